"""Prompt assembly: token ids are spliced, never re-tokenised text."""

from collections.abc import Sequence
from dataclasses import dataclass

from generator.chat import ChatTokenizer, TurnFrame
from generator.errors import QuestionTooLong
from generator.fusion_request import Segment, SegmentKind
from generator.preamble import Preamble
from kvstore.key import Reading


@dataclass(frozen=True)
class Turn:
    """An earlier question and its answer."""

    question: str
    answer: str


@dataclass(frozen=True)
class Prompt:
    """`token_ids` of the whole prompt; `segments` of its fused context, which earlier turns and the question follow.

    `history_tokens`: how many tokens the earlier turns take.
    """

    token_ids: list[int]
    segments: tuple[Segment, ...]
    history_tokens: int = 0


def assemble(
    tokenizer: ChatTokenizer,
    preamble: Preamble,
    chunks: Sequence[Sequence[int]],
    question: str,
    max_prompt_tokens: int,
    *,
    conditioned: bool = False,
    history: Sequence[Turn] = (),
    history_tokens: int = 0,
    instruction: str = "",
) -> Prompt:
    """Splice preamble, chunks with their numbers, earlier turns, and question.

    Earlier turns stand behind the chunks, so that these lie where they lay in the first turn: as many of the newest as
    fit whole in `history_tokens` and in what the question leaves. None where the chat template shows no turns.

    Args:
        conditioned: whether chunks and numbers have two readings.
        history: oldest first.
        instruction: what the asker wants of the answer; it stands before the question.
    Raises QuestionTooLong when the prompt without earlier turns would be longer than `max_prompt_tokens`.
    """
    ids = list(preamble.ids)
    segments = [Segment(0, len(ids), SegmentKind.PREAMBLE, (Reading.OPENING,))]
    for number, chunk in enumerate(chunks, start=1):
        if number > 1:
            readings = (Reading.CONDITIONED, Reading.OPENING) if conditioned else (Reading.OPENING,)
            segments.append(_append(ids, number_ids(tokenizer, number), SegmentKind.TEXT, readings))
        segments.append(_append(ids, chunk, SegmentKind.CHUNK, chunk_readings(number, conditioned)))
    asked = f"{instruction}\n\nQuestion: {question}" if instruction else f"Question: {question}"
    alone = len(ids) + len(tokenizer.encode(f"\n\n{asked}")) + len(preamble.tail)
    if alone > max_prompt_tokens:
        raise QuestionTooLong(
            f"The question with its passages takes {alone} tokens; the model has room for {max_prompt_tokens}.",
            "Ask a shorter question, or use fewer passages or a shorter answer.",
        )
    room = min(history_tokens, max_prompt_tokens - alone)
    turns = _earlier(tokenizer, preamble.turns, history, room) if preamble.turns else []
    earlier = [token for turn in turns for token in turn]
    ids += earlier
    ids += tokenizer.encode(asked if turns else f"\n\n{asked}")
    ids += preamble.tail
    return Prompt(ids, tuple(segments), len(earlier))


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


def _earlier(
    tokenizer: ChatTokenizer, frame: TurnFrame, history: Sequence[Turn], room: int
) -> list[list[int]]:
    """The newest turns that fit in `room` tokens, oldest first, each up to where the next question begins."""
    taken: list[list[int]] = []
    first: list[int] = []
    used = 0
    for turn in reversed(history):
        rest = [*frame.before_answer, *tokenizer.encode(turn.answer), *frame.before_question]
        # Only the first stands behind the passages, which a blank line ends.
        opening = tokenizer.encode(f"\n\nQuestion: {turn.question}") + rest
        if used + len(opening) > room:
            break
        first = opening
        taken.append(tokenizer.encode(f"Question: {turn.question}") + rest)
        used += max(len(opening), len(taken[-1]))
    return [first, *reversed(taken[:-1])] if taken else []


def _append(
    ids: list[int], more: Sequence[int], kind: SegmentKind, readings: tuple[Reading, ...] = (Reading.OPENING,)
) -> Segment:
    start = len(ids)
    ids.extend(more)
    return Segment(start, len(ids), kind, readings)
