"""Adaptation: at which level each chunk is fetched, or whether it is computed from its tokens, to meet a deadline.

Source: CacheGen (arXiv 2310.07240), section 5: chunks are streamed one after the other, and each gets the best level at
which it and all that are still to come would arrive in time.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import inf

from kvstore.levels import Level


class Choice(StrEnum):
    """What becomes of a chunk: fetched at a level, or recomputed."""

    HOT = Level.HOT
    COMPACT = Level.COMPACT
    RECOMPUTE = "recompute"


@dataclass(frozen=True)
class Offer:
    """A level at which a chunk can be had. bytes_per_second: of where it lies; None: not known, taken for endless."""

    level: Level
    nbytes: int
    bytes_per_second: float | None


@dataclass(frozen=True)
class ChunkOffers:
    """What a chunk can be had at, from the best level on, and how many tokens, at least 1, are computed otherwise."""

    n_tokens: int
    offers: tuple[Offer, ...]


@dataclass(frozen=True)
class Costs:
    """Seconds to decode a stored byte, and to compute a token; infinite: not known, so better not."""

    decode_byte_s: float = 0.0
    recompute_token_s: float = inf


def choose(chunks: Sequence[ChunkOffers], costs: Costs, deadline_s: float | None) -> tuple[Choice, ...]:
    """For each chunk, in the order in which they are fetched, what becomes of it.

    Each gets the best level at which it and all chunks still to come are there within what is left of `deadline_s`;
    where there is none, whatever is soonest. None: there is no deadline, and each gets its best level.

    If any choices meet the deadline, these do: a level is only taken where going on at it meets the deadline, and
    otherwise no other choice would leave more time.
    """
    options = [_options(chunk, costs) for chunk in chunks]
    if deadline_s is None:
        return tuple(each[0].choice for each in options)
    chosen: list[Choice] = []
    left = deadline_s
    for first, own in enumerate(options):
        plans = ([_at(level, each) for each in options[first:]] for level in (Choice.HOT, Choice.COMPACT))
        in_time = (plan[0] for plan in plans if sum(option.seconds for option in plan) <= left)
        option = next(in_time, min(own, key=lambda each: each.seconds))
        chosen.append(option.choice)
        left -= option.seconds
    return tuple(chosen)


@dataclass(frozen=True)
class _Option:
    choice: Choice
    seconds: float


def _options(chunk: ChunkOffers, costs: Costs) -> list[_Option]:
    """The levels, from the best on, without those that a better one beats; computing comes last."""
    options: list[_Option] = []
    for offer in chunk.offers:
        byte_s = costs.decode_byte_s + (1 / offer.bytes_per_second if offer.bytes_per_second else 0.0)
        seconds = offer.nbytes * byte_s
        if all(seconds < better.seconds for better in options):
            options.append(_Option(Choice(offer.level), seconds))
    return [*options, _Option(Choice.RECOMPUTE, chunk.n_tokens * costs.recompute_token_s)]


def _at(level: Choice, options: Sequence[_Option]) -> _Option:
    """A chunk at this level, or at the next one that it has; computed where it has none."""
    levels = options[:-1] or options
    order = list(Choice)
    return next((each for each in levels if order.index(each.choice) >= order.index(level)), levels[-1])


__all__ = ["Choice", "ChunkOffers", "Costs", "Offer", "choose"]
