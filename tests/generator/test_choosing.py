"""What is fetched at which level follows from the deadline, from what lies where, and from how fast it came."""

from pathlib import Path

import pytest
from stored_kv import TENANT, identity_of, put_kv, sample_kv

from generator.arriving import Wanted
from generator.choosing import BEST_FIRST, Chooser
from kvstore.decoded import DecodedChunks
from kvstore.identity import BlobIdentity
from kvstore.key import Reading
from kvstore.levels import Level, at_level
from kvstore.store import ChunkStore
from kvstore.tiers.disk import DiskTier

ONE, TWO = identity_of(1), identity_of(2)
ONLY_COMPACT = (Level.COMPACT,)
RECOMPUTED = ()


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store(tmp_path: Path) -> ChunkStore:
    """Two chunks at both levels, the compact ones an order of magnitude smaller."""
    store = ChunkStore([DiskTier(tmp_path, 10**8)])
    for identity in (ONE, TWO):
        put_kv(store, identity, sample_kv(1, tokens=200))
        put_kv(store, at_level(identity, Level.COMPACT), sample_kv(2, tokens=20))
    return store


@pytest.fixture
def decoded() -> DecodedChunks:
    return DecodedChunks(10**8)


def hot_bytes(store: ChunkStore) -> int:
    return store.sizes(TENANT, [ONE.key])[ONE.key].nbytes


def want(*identities: BlobIdentity) -> Wanted:
    return Wanted(identities, 200)


def test_without_a_deadline_the_best_is_looked_for_first_however_slow_it_comes(
    store: ChunkStore, decoded: DecodedChunks, clock: Clock
) -> None:
    chooser = Chooser(store, decoded, clock=clock)
    chooser.saw_fetched("disk", 1, 1000.0)
    assert chooser.begin(TENANT, [want(ONE)]).of(0) == BEST_FIRST


def test_what_is_not_stored_is_looked_for_anyway(store: ChunkStore, decoded: DecodedChunks, clock: Clock) -> None:
    levels = Chooser(store, decoded, 0.001, clock=clock).begin(TENANT, [want(identity_of(9)), want()])
    assert levels.of(0) == levels.of(1) == BEST_FIRST


def test_before_anything_was_measured_the_best_is_fetched(
    store: ChunkStore, decoded: DecodedChunks, clock: Clock
) -> None:
    assert Chooser(store, decoded, 0.001, clock=clock).begin(TENANT, [want(ONE)]).of(0) == BEST_FIRST


def test_each_chunk_is_chosen_for_with_the_time_that_is_left_and_the_speed_seen_by_then(
    store: ChunkStore, decoded: DecodedChunks, clock: Clock
) -> None:
    chooser = Chooser(store, decoded, 10.0, clock=clock)
    chooser.saw_fetched("disk", hot_bytes(store), 4.0)
    levels = chooser.begin(TENANT, [want(ONE), want(TWO)])
    assert levels.of(0) == BEST_FIRST, "two chunks take 8 of 10 seconds"
    clock.now = 7.0
    assert levels.of(1) == ONLY_COMPACT, "3 seconds are left"
    chooser.saw_fetched("disk", 1000 * hot_bytes(store), 1.0)
    assert levels.of(1) == BEST_FIRST, "the link has become faster"


def test_what_is_computed_sooner_than_loaded_is_not_loaded(
    store: ChunkStore, decoded: DecodedChunks, clock: Clock
) -> None:
    token_s: list[float | None] = [None]
    chooser = Chooser(store, decoded, 1.0, lambda: token_s[0], clock)
    chooser.saw_fetched("disk", 1, 1.0)
    levels = chooser.begin(TENANT, [want(ONE)])
    assert levels.of(0) == ONLY_COMPACT
    token_s[0] = 0.01
    assert levels.of(0) == RECOMPUTED


def test_what_decoding_takes_counts(store: ChunkStore, decoded: DecodedChunks, clock: Clock) -> None:
    chooser = Chooser(store, decoded, 1.0, clock=clock)
    chooser.saw_decoded(hot_bytes(store), 2.0)
    assert chooser.begin(TENANT, [want(ONE)]).of(0) == ONLY_COMPACT


def test_what_is_in_memory_takes_no_time(store: ChunkStore, decoded: DecodedChunks, clock: Clock) -> None:
    chooser = Chooser(store, decoded, 5.0, clock=clock)
    chooser.saw_fetched("disk", hot_bytes(store), 4.0)
    assert chooser.begin(TENANT, [want(ONE), want(TWO)]).of(0) == ONLY_COMPACT
    decoded.put(TENANT, TWO, sample_kv(), decoded.deletions)
    assert chooser.begin(TENANT, [want(ONE), want(TWO)]).of(0) == BEST_FIRST


def test_the_first_identity_that_there_is_at_any_level_is_what_counts(
    store: ChunkStore, decoded: DecodedChunks, clock: Clock
) -> None:
    conditioned = identity_of(3, Reading.CONDITIONED)
    chooser = Chooser(store, decoded, 5.0, clock=clock)
    chooser.saw_fetched("disk", hot_bytes(store), 8.0)
    assert chooser.begin(TENANT, [want(conditioned, ONE)]).of(0) == ONLY_COMPACT
    put_kv(store, conditioned, sample_kv())
    assert chooser.begin(TENANT, [want(conditioned, ONE)]).of(0) == BEST_FIRST
