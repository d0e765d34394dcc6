"""Conditioning: the passage that a chunk is read behind when it will not come first.

A chunk read right behind the preamble believes that it opens the context. Read behind a passage, of which only the
chunk's own KV is kept, it expects that something stands before it, as in most prompts it does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from generator.chat import ChatTokenizer
from generator.preamble import Preamble
from generator.prompt import fixed_pieces, number_ids
from kvstore.key import Reading, ids_hash

PASSAGE_TOKENS = 170
"""How much of a document's own text goes before its chunk; three times as much was measured to be no better."""

NEUTRAL_TEXT = (
    "This part of the collection deals with general matters. It describes in plain words how things are usually done, "
    "what may be expected in the course of an ordinary day, and where more can be found. Most of what is written here "
    "is well known, and none of it needs to be remembered in order to understand the pages that follow. Some sections "
    "are short, others go into more detail; each of them can be read by itself. Where a term is not explained, its "
    "everyday meaning is intended. The order of the sections has no particular significance, and nothing in one of "
    "them changes what is said in another. Readers who look for a certain subject will find it by its heading. The "
    "text is revised from time to time, so that small differences between copies are possible. Questions about it are "
    "welcome, and so are suggestions for making it clearer."
)


class Conditioning(StrEnum):
    """`neutral`: every chunk behind the passage that ships; `document`: behind its own document's preceding text."""

    OFF = "off"
    NEUTRAL = "neutral"
    DOCUMENT = "document"


@dataclass(frozen=True)
class ConditioningPassage:
    """`token_ids` end with what separates the passage from the chunk; `own`: text of the chunk's own document."""

    token_ids: tuple[int, ...]
    own: bool = False

    @property
    def hash(self) -> str:
        return ids_hash(self.token_ids)


@dataclass(frozen=True)
class Passages:
    """What chunks are read behind. `separator` stands before every passage of a prompt but the first."""

    conditioning: Conditioning
    neutral: ConditioningPassage
    separator: tuple[int, ...]

    def of(self, before: Sequence[int], *, shared: bool) -> ConditioningPassage:
        """The passage of one chunk.

        Args:
            before: token ids of what precedes it in the same version of its document.
            shared: whether another live document of the tenant has the chunk too. Their one KV must then not be shaped
                by the text of either, which would outlive its deletion and reach questions about the other alone.
        """
        own = before[-PASSAGE_TOKENS:] if self.conditioning is Conditioning.DOCUMENT and not shared else ()
        return ConditioningPassage((*own, *self.separator), own=True) if own else self.neutral


def passages(tokenizer: ChatTokenizer, conditioning: Conditioning) -> Passages:
    neutral = ConditioningPassage(neutral_passage(tokenizer))
    return Passages(conditioning, neutral, _separator(tokenizer))


def neutral_passage(tokenizer: ChatTokenizer) -> tuple[int, ...]:
    """Token ids of the passage that ships, and of the number that stands before the next one."""
    return (*tokenizer.encode(NEUTRAL_TEXT), *_separator(tokenizer))


def number_passage(tokenizer: ChatTokenizer, number: int) -> ConditioningPassage:
    """What the number before passage `number` is read behind: neutral passages under the numbers that precede it."""
    ids = list(tokenizer.encode(NEUTRAL_TEXT))
    for earlier in range(2, number):
        ids += [*number_ids(tokenizer, earlier), *tokenizer.encode(NEUTRAL_TEXT)]
    return ConditioningPassage(tuple(ids))


@dataclass(frozen=True)
class SharedPiece:
    """Something that prompts share, and the passage it is read behind; None: right behind the preamble, or itself."""

    token_ids: tuple[int, ...]
    passage: ConditioningPassage | None = None


def shared_pieces(
    tokenizer: ChatTokenizer, preamble: Preamble, chunks: int, conditioning: Conditioning
) -> list[SharedPiece]:
    """What prompts of up to `chunks` passages share and is pre-read once, in order.

    Preamble and numbers; where there is conditioning the neutral passage too, and the numbers behind theirs.
    """
    pieces = [SharedPiece(tuple(ids)) for ids in fixed_pieces(tokenizer, preamble, chunks)]
    if conditioning is not Conditioning.OFF:
        pieces.append(SharedPiece(neutral_passage(tokenizer)))
        pieces += [
            SharedPiece(tuple(number_ids(tokenizer, number)), number_passage(tokenizer, number))
            for number in range(2, chunks + 1)
        ]
    return pieces


def readings_of_every_chunk(conditioning: Conditioning, opening_readings: str) -> tuple[Reading, ...]:
    """The readings that pre-reading makes of each chunk, whatever place it will have."""
    if conditioning is Conditioning.OFF:
        return (Reading.OPENING,)
    return (Reading.CONDITIONED,) if opening_readings == "first" else (Reading.OPENING, Reading.CONDITIONED)


def _separator(tokenizer: ChatTokenizer) -> tuple[int, ...]:
    return tuple(number_ids(tokenizer, 2))
