"""Which level each chunk is fetched at: the best that meets the deadline, and never later than it need be."""

from dataclasses import replace
from itertools import product
from math import inf

from hypothesis import given
from hypothesis import strategies as st

from generator.adaptation import Choice, ChunkOffers, Costs, Offer, choose
from kvstore.levels import Level

HOT, COMPACT, RECOMPUTE = Choice
# Powers of two, so that sums of seconds are exact.
SPEEDS = st.sampled_from([2.0**power for power in range(-2, 6)])
SIZES = st.integers(1, 1000)


@st.composite
def offers(draw: st.DrawFn, levels: tuple[Level, ...] = tuple(Level)) -> tuple[Offer, ...]:
    return tuple(Offer(level, draw(SIZES), draw(SPEEDS)) for level in levels)


SUBSETS = st.sampled_from([(), (Level.HOT,), (Level.COMPACT,), tuple(Level)])
CHUNKS = st.lists(st.builds(ChunkOffers, n_tokens=st.integers(1, 512), offers=SUBSETS.flatmap(offers)), max_size=5).map(
    tuple
)
TWO_LEVELS = st.lists(st.builds(ChunkOffers, n_tokens=st.integers(1, 512), offers=offers()), max_size=6).map(tuple)
COSTS = st.builds(
    Costs, decode_byte_s=st.sampled_from([0.0, 0.25, 1.0]), recompute_token_s=st.sampled_from([0.25, 1.0, 8.0])
)
DEADLINES = st.integers(-10, 10_000).map(float)


def seconds_of(chunk: ChunkOffers, choice: Choice, costs: Costs) -> float:
    """Infinite where the chunk has not that level."""
    if choice is RECOMPUTE:
        return chunk.n_tokens * costs.recompute_token_s
    found = [each for each in chunk.offers if each.level == choice.value]
    return found[0].nbytes * (costs.decode_byte_s + 1 / (found[0].bytes_per_second or inf)) if found else inf


def total(chunks: tuple[ChunkOffers, ...], choices: tuple[Choice, ...], costs: Costs) -> float:
    return sum(seconds_of(chunk, choice, costs) for chunk, choice in zip(chunks, choices, strict=True))


def quality(choice: Choice) -> int:
    """Loading beats computing only in that it was asked for: the more time there is, the more is loaded."""
    return -list(Choice).index(choice)


@given(COSTS, st.one_of(st.none(), DEADLINES))
def test_nothing_to_fetch_is_nothing_to_choose(costs: Costs, deadline: float | None) -> None:
    assert choose((), costs, deadline) == ()


@given(CHUNKS, COSTS)
def test_without_a_deadline_every_chunk_gets_its_best_level(chunks: tuple[ChunkOffers, ...], costs: Costs) -> None:
    best = choose(chunks, costs, None)
    assert all(choice is RECOMPUTE for chunk, choice in zip(chunks, best, strict=True) if not chunk.offers)
    for chunk, choice in zip(chunks, best, strict=True):
        assert not chunk.offers or choice.value == chunk.offers[0].level


@given(CHUNKS, COSTS, DEADLINES)
def test_what_is_chosen_can_be_had_and_meets_the_deadline_where_anything_does(
    chunks: tuple[ChunkOffers, ...], costs: Costs, deadline: float
) -> None:
    chosen = choose(chunks, costs, deadline)
    taken = total(chunks, chosen, costs)
    assert taken < inf
    soonest = min(total(chunks, each, costs) for each in product(Choice, repeat=len(chunks)))
    assert taken <= max(deadline, soonest)


@given(TWO_LEVELS, COSTS, DEADLINES, st.integers(0, 5000))
def test_a_later_deadline_never_lowers_a_level(
    chunks: tuple[ChunkOffers, ...], costs: Costs, deadline: float, more: int
) -> None:
    """Where nothing is recomputed; else what is loaded now may leave too little time for the best level later on."""
    costs = replace(costs, recompute_token_s=inf)
    before, after = choose(chunks, costs, deadline), choose(chunks, costs, deadline + more)
    assert all(quality(late) >= quality(soon) for soon, late in zip(before, after, strict=True))


@given(CHUNKS.filter(bool), COSTS, DEADLINES, st.integers(0, 5000))
def test_a_later_deadline_never_lowers_what_is_fetched_next(
    chunks: tuple[ChunkOffers, ...], costs: Costs, deadline: float, more: int
) -> None:
    before, after = choose(chunks, costs, deadline)[0], choose(chunks, costs, deadline + more)[0]
    if before is not RECOMPUTE or after is not RECOMPUTE:
        assert quality(after) >= quality(before)


@given(TWO_LEVELS, COSTS, DEADLINES, SPEEDS, st.sampled_from([1.0, 2.0, 64.0]))
def test_more_bandwidth_never_lowers_a_level(
    chunks: tuple[ChunkOffers, ...], costs: Costs, deadline: float, speed: float, factor: float
) -> None:
    costs = replace(costs, recompute_token_s=inf)
    before = choose(over_a_link(chunks, speed), costs, deadline)
    after = choose(over_a_link(chunks, speed * factor), costs, deadline)
    assert all(quality(fast) >= quality(slow) for slow, fast in zip(before, after, strict=True))


def over_a_link(chunks: tuple[ChunkOffers, ...], speed: float) -> tuple[ChunkOffers, ...]:
    return tuple(
        replace(each, offers=tuple(replace(offer, bytes_per_second=speed) for offer in each.offers)) for each in chunks
    )


def chunk(hot: int = 1000, compact: int = 100, tokens: int = 100, speed: float | None = 100.0) -> ChunkOffers:
    return ChunkOffers(tokens, (Offer(Level.HOT, hot, speed), Offer(Level.COMPACT, compact, speed)))


def test_of_three_chunks_the_last_ones_get_the_better_level_once_there_is_time_for_it() -> None:
    costs = Costs()
    assert choose((chunk(),) * 3, costs, 30) == (HOT, HOT, HOT)
    assert choose((chunk(),) * 3, costs, 29) == (COMPACT, HOT, HOT)
    assert choose((chunk(),) * 3, costs, 12) == (COMPACT, COMPACT, HOT)
    assert choose((chunk(),) * 3, costs, 3) == (COMPACT, COMPACT, COMPACT)


def test_where_even_the_smallest_comes_too_late_whatever_is_soonest_is_taken() -> None:
    assert choose((chunk(tokens=10), chunk(tokens=1000)), Costs(recompute_token_s=0.05), 0.5) == (RECOMPUTE, COMPACT)
    assert choose((chunk(),), Costs(), 0.5) == (COMPACT,), "nobody knows how long computing takes"


def test_an_unknown_bandwidth_is_tried_with_the_best_level() -> None:
    assert choose((chunk(speed=None),), Costs(recompute_token_s=0.01), 0.001) == (HOT,)


def test_decoding_counts_too() -> None:
    assert choose((chunk(speed=None),), Costs(decode_byte_s=0.01), 5) == (COMPACT,)


def test_a_smaller_level_that_lies_where_it_takes_longer_is_not_taken() -> None:
    slow = ChunkOffers(100, (Offer(Level.HOT, 1000, 1000.0), Offer(Level.COMPACT, 100, 10.0)))
    assert choose((slow,), Costs(), 0.1) == (HOT,)
