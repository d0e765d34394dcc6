"""How one answer compares with the exact run's, and with what is right."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.divergence import LogProbs, agreement, kl
from benchmarks.words import exact_match, f1, holds


@dataclass(frozen=True)
class Said:
    """A greedy answer: its whole text, and its first tokens with the distributions they were the likeliest of.

    logprobs: (steps, vocabulary) float32, one row for each of `tokens`.
    """

    text: str
    tokens: tuple[int, ...]
    logprobs: LogProbs


@dataclass(frozen=True)
class Verdict:
    """One question under one policy.

    `f1`, `em` and `wrong` (the answer holds none of the golds) are None where nobody knows what is right, the costs
    where they were not measured. The KL divergences are in nats; `kl_mean` is over the exact run's first tokens, which
    the policy was made to say.
    """

    f1: float | None
    em: float | None
    wrong: float | None
    f1_vs_exact: float
    greedy_agreement: float
    identical: float
    kl_first_token: float
    kl_mean: float
    ttft_s: float | None = None
    effective_recompute: float | None = None


def verdict(golds: Sequence[str], exact: Said, free: Said, forced: LogProbs) -> Verdict:
    """Compare a policy's free answer, and its distributions when made to say what `exact` said, with `exact`.

    forced: (steps, vocabulary) float32 log-probabilities, as many rows as `exact` has.
    """
    divergence = kl(exact.logprobs, forced)
    return Verdict(
        f1=f1(free.text, golds) if golds else None,
        em=exact_match(free.text, golds) if golds else None,
        wrong=float(not holds(free.text, golds)) if golds else None,
        f1_vs_exact=f1(free.text, [exact.text]),
        greedy_agreement=agreement(exact.tokens, free.tokens),
        identical=float(free.text == exact.text),
        kl_first_token=float(divergence[0]),
        kl_mean=float(divergence.mean()),
    )
