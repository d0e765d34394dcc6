"""What a soak asks: under which policy, about which chunks, and how it ends. The same seed asks the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random

from generator.fusion_request import FusionRequest, Segment, SegmentKind
from kvstore.key import Reading

POLICIES = ("none", "head@8", "impact@.1", "impact@.3", "hkvd@.1", "exact", "nested")
"""With amounts, since without one measured seconds decide. `nested`: exact, through the recompute forward."""

_ABORTED = 0.15
_LONGEST_PATIENCE_S = 1.0


@dataclass(frozen=True)
class Turn:
    """`places`: which chunks of the pool, in prompt order. `patience_s`: after how many seconds its reader hangs up;
    None: never."""

    places: tuple[int, ...]
    policy: str
    answer_tokens: int
    patience_s: float | None

    def request(self, request_id: str, tenant: str, segments: tuple[Segment, ...]) -> FusionRequest:
        nested = self.policy == "nested"
        return FusionRequest(request_id, tenant, "exact" if nested else self.policy, segments, nested=nested)


def turns(seed: int, questions: int, pool: int, chunks: int) -> list[Turn]:
    """`questions` turns of one to `chunks` chunks out of `pool`; every seventh has the same policy."""
    draw = Random(seed)  # noqa: S311
    return [
        Turn(
            places=tuple(draw.sample(range(pool), draw.randint(1, min(chunks, pool)))),
            policy=POLICIES[number % len(POLICIES)],
            answer_tokens=draw.randint(1, 24),
            patience_s=draw.uniform(0, _LONGEST_PATIENCE_S) if draw.random() < _ABORTED else None,
        )
        for number in range(questions)
    ]


def without_numbers(segments: Sequence[Segment]) -> tuple[Segment, ...]:
    """The numbers between passages always fresh: a report does not tell which of them were found."""
    return tuple(replace(each, readings=()) if each.kind is SegmentKind.TEXT else each for each in segments)


def pinned(segments: Sequence[Segment], hits: Sequence[bool], preamble: bool) -> tuple[Segment, ...]:
    """The same segments, but looking only for what was found: the `preamble`, and of the chunks those of `hits`."""
    found = {SegmentKind.PREAMBLE: iter([preamble]), SegmentKind.CHUNK: iter(hits)}
    return tuple(_looked_for(segment, found.get(segment.kind, iter(()))) for segment in segments)


def _looked_for(segment: Segment, found: Iterator[bool]) -> Segment:
    return replace(segment, readings=(Reading.OPENING,) if next(found, False) else ())
