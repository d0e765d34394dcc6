"""Prompt assembly: token ids are spliced, never re-tokenised text."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.chat import ChatTokenizer
from generator.errors import QuestionTooLong
from generator.fusion_request import Segment, SegmentKind
from generator.preamble import Preamble
from kvstore.key import Reading


@dataclass(frozen=True)
class Prompt:
    """`token_ids` of the whole prompt; `segments` of its fused context, the question following the last."""

    token_ids: list[int]
    segments: tuple[Segment, ...]


def assemble(
    tokenizer: ChatTokenizer,
    preamble: Preamble,
    chunks: Sequence[Sequence[int]],
    question: str,
    max_prompt_tokens: int,
    *,
    conditioned: bool = False,
) -> Prompt:
    """Splice preamble, chunks with their numbers, and question. `conditioned`: whether chunks and numbers have two
    readings.

    Raises QuestionTooLong when the prompt would be longer than `max_prompt_tokens`.
    """
    ids = list(preamble.ids)
    segments = [Segment(0, len(ids), SegmentKind.PREAMBLE, (Reading.OPENING,))]
    for number, chunk in enumerate(chunks, start=1):
        if number > 1:
            readings = (Reading.CONDITIONED, Reading.OPENING) if conditioned else (Reading.OPENING,)
            segments.append(_append(ids, number_ids(tokenizer, number), SegmentKind.TEXT, readings))
        segments.append(_append(ids, chunk, SegmentKind.CHUNK, chunk_readings(number, conditioned)))
    ids += tokenizer.encode(f"\n\nQuestion: {question}")
    ids += preamble.tail
    if len(ids) > max_prompt_tokens:
        raise QuestionTooLong(
            f"The question with its passages takes {len(ids)} tokens; the model has room for {max_prompt_tokens}.",
            "Ask a shorter question, or use fewer passages or a shorter answer.",
        )
    return Prompt(ids, tuple(segments))


def chunk_readings(number: int, conditioned: bool) -> tuple[Reading, ...]:
    """The readings that serve the chunk of passage `number` (from 1), best first.

    Behind other passages an opening reading is worse than none, in first place a conditioned one only less good.
    """
    if not conditioned:
        return (Reading.OPENING,)
    return (Reading.OPENING, Reading.CONDITIONED) if number == 1 else (Reading.CONDITIONED,)


def chunk_prompt(
    preamble: Preamble, chunk: Sequence[int], passage: Sequence[int] = (), *, passage_stored: bool = False
) -> Prompt:
    """The prompt that pre-reads one chunk behind the preamble, and behind a conditioning passage if there is one.

    The preamble alone: pass its ids as `chunk`. `passage_stored`: the passage's own KV may be in the store.
    """
    if tuple(chunk) == preamble.ids:
        return Prompt(list(chunk), (Segment(0, len(chunk), SegmentKind.CHUNK),))
    ids = list(preamble.ids)
    segments = [Segment(0, len(ids), SegmentKind.PREAMBLE, (Reading.OPENING,))]
    if passage:
        segments.append(_append(ids, passage, SegmentKind.TEXT, (Reading.OPENING,) if passage_stored else ()))
    segments.append(_append(ids, chunk, SegmentKind.CHUNK, ()))
    return Prompt(ids, tuple(segments))


def number_ids(tokenizer: ChatTokenizer, number: int) -> list[int]:
    """The short text before passage `number`; the first passage's belongs to the preamble."""
    return tokenizer.encode(f"\n\n[{number}] ")


def fixed_pieces(tokenizer: ChatTokenizer, preamble: Preamble, chunks: int) -> list[Sequence[int]]:
    """What prompts of up to `chunks` passages share and is pre-read once: the preamble, then the numbers."""
    return [preamble.ids, *(number_ids(tokenizer, number) for number in range(2, chunks + 1))]


def _append(
    ids: list[int], more: Sequence[int], kind: SegmentKind, readings: tuple[Reading, ...] = (Reading.OPENING,)
) -> Segment:
    start = len(ids)
    ids.extend(more)
    return Segment(start, len(ids), kind, readings)
