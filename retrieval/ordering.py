"""The order of passages in a prompt: the best first, unless another suits the first place better."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from retrieval.search import Passage


def prefer_first(passages: Sequence[Passage], suited: Collection[str], margin: float) -> list[Passage]:
    """Move a passage that suits the first place there, if it is nearly as good as the best; numbered anew.

    Args:
        passages: best first.
        suited: chunk ids of those that suit the first place.
        margin: how much lower than the best score the moved passage's may be. With 0 nothing is moved but one that is
            exactly as good.
    Returns: the passages; all but the moved one keep their order. The best stays where it is if it suits.
    """
    first = next(
        (p for p in passages if p.chunk_id in suited and p.score >= passages[0].score - margin),
        passages[0] if passages else None,
    )
    ordered = [p for p in passages if p is first] + [p for p in passages if p is not first]
    return [replace(passage, n=n) for n, passage in enumerate(ordered, start=1)]
