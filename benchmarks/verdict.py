"""How one answer compares with the exact run's, and with what is right."""

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.answer import TracedAnswer
from benchmarks.divergence import LogProbs, agreement, kl
from benchmarks.words import exact_match, f1, holds


@dataclass(frozen=True)
class Verdict:
    """One question under one policy.

    `f1`, `em` and `wrong` (the answer holds none of the golds) are None where nobody knows what is right. The KL
    divergences are in nats; `kl_mean` is over the exact run's first tokens, which the policy was made to say.
    """

    f1: float | None
    em: float | None
    wrong: float | None
    f1_vs_exact: float
    greedy_agreement: float
    identical: float
    kl_first_token: float
    kl_mean: float
    ttft_s: float
    effective_recompute: float


def verdict(golds: Sequence[str], exact: TracedAnswer, free: TracedAnswer, forced: LogProbs) -> Verdict:
    """Compare a policy's free answer, and its distributions when made to say what `exact` said, with `exact`.

    forced: (steps, vocabulary) float32 log-probabilities, for as many steps as `exact` has.
    """
    divergence = kl(exact.logprobs, forced)
    text, reference = free.answer.text, exact.answer.text
    return Verdict(
        f1=f1(text, golds) if golds else None,
        em=exact_match(text, golds) if golds else None,
        wrong=float(not holds(text, golds)) if golds else None,
        f1_vs_exact=f1(text, [reference]),
        greedy_agreement=agreement(exact.likeliest, free.likeliest),
        identical=float(text == reference),
        kl_first_token=float(divergence[0]),
        kl_mean=float(divergence.mean()),
        ttft_s=free.answer.ttft_s,
        effective_recompute=free.answer.report.effective_recompute or 0.0,
    )
