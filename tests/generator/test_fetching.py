"""Chunk KV is fetched in order and decoded in the background, a few layers at a time; what fails is a miss."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
import torch
from stored_kv import (
    HEAD_DIM,
    HEADS,
    LAYERS,
    TENANT,
    TOKENS,
    GatedCodecs,
    Spoilt,
    identity_of,
    put_kv,
    same,
    sample_kv,
)
from waiting import wait_until

from generator.arriving import Wanted
from generator.choosing import Chooser
from generator.fetching import Fetcher
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.codecs import Codecs
from kvstore.decoded import DecodedChunks
from kvstore.errors import TierDown
from kvstore.identity import BlobIdentity
from kvstore.key import Reading
from kvstore.levels import Level, at_level
from kvstore.profiles import Profiles
from kvstore.reasons import StoreMiss
from kvstore.store import ChunkStore, Miss
from kvstore.tiers.disk import DiskTier

ALL = slice(0, HEADS)
LAST = LAYERS - 1
ONE, TWO = identity_of(1), identity_of(2)
Make = Callable[..., Fetcher]


def want(*identities: BlobIdentity) -> Wanted:
    return Wanted(identities, TOKENS)


@pytest.fixture
def store(tmp_path: Path) -> ChunkStore:
    return ChunkStore([DiskTier(tmp_path, 10**7)])


@pytest.fixture
def decoded() -> DecodedChunks:
    return DecodedChunks(10**6)


@pytest.fixture
def make(store: ChunkStore, decoded: DecodedChunks) -> Iterator[Make]:
    made: list[Fetcher] = []

    def fetcher(codecs: Codecs | None = None, share: slice = ALL, chooser: Chooser | None = None) -> Fetcher:
        shapes = [(HEADS, HEAD_DIM)] * LAYERS
        chooser = chooser or Chooser(store, decoded)
        codecs = codecs or Codecs(Profiles([]))
        made.append(Fetcher(store, codecs, decoded, shapes, share, chooser, torch.bfloat16))
        return made[-1]

    yield fetcher
    for each in made:
        each.close()


def test_what_is_stored_comes_whole_and_is_then_held_in_memory(store: ChunkStore, make: Make) -> None:
    put_kv(store, ONE, sample_kv())
    fetcher = make()
    (first,) = fetcher.fetch(TENANT, [want(ONE)])
    assert all(first.has(layer) for layer in range(LAYERS))
    assert same(first.whole().kv, sample_kv())
    assert (first.whole().tier, first.whole().reading) == ("disk", Reading.OPENING)
    (second,) = fetcher.fetch(TENANT, [want(ONE)])
    assert second.done, "memory makes nobody wait"
    assert second.found().tier == "memory"
    assert second.found().kv is first.found().kv


def test_the_first_of_several_identities_that_there_is_serves(store: ChunkStore, make: Make) -> None:
    conditioned = identity_of(3, Reading.CONDITIONED)
    put_kv(store, conditioned, sample_kv(3))
    fetcher = make()
    (arriving,) = fetcher.fetch(TENANT, [want(ONE, conditioned)])
    assert arriving.found().reading is Reading.CONDITIONED
    put_kv(store, ONE, sample_kv(1))
    arriving.whole()
    (arriving,) = fetcher.fetch(TENANT, [want(ONE, conditioned)])
    assert arriving.found().reading is Reading.OPENING, "what is in memory came before what was preferred"


def test_no_identity_and_no_blob_are_misses(make: Make) -> None:
    nothing, absent = make().fetch(TENANT, [want(), want(ONE)])
    for arriving in (nothing, absent):
        assert arriving.found().kv is None
        assert arriving.whole().reason == StoreMiss.ABSENT


def test_early_layers_are_there_while_later_ones_are_decoded(store: ChunkStore, make: Make) -> None:
    put_kv(store, ONE, sample_kv())
    gate = GatedCodecs(LAST)
    (arriving,) = make(gate).fetch(TENANT, [want(ONE)])
    found = arriving.found().kv
    assert found is not None
    assert arriving.has(0)
    assert bool((found.keys[0] == sample_kv().keys[0]).all())
    assert not arriving.done
    gate.open.set()
    assert same(arriving.whole().kv, sample_kv())


def test_the_next_chunk_is_fetched_while_one_is_decoded(store: ChunkStore, make: Make) -> None:
    put_kv(store, ONE, sample_kv(1))
    put_kv(store, TWO, sample_kv(2))
    gate = GatedCodecs()
    one, two = make(gate).fetch(TENANT, [want(ONE), want(TWO)])
    assert two.found().kv is not None
    assert not one.done
    gate.open.set()
    assert same(one.whole().kv, sample_kv(1))
    assert same(two.whole().kv, sample_kv(2))


def test_a_layer_that_does_not_decode_makes_the_chunk_a_miss_and_drops_the_blob(
    store: ChunkStore, decoded: DecodedChunks, make: Make
) -> None:
    put_kv(store, ONE, sample_kv(), Spoilt(LAST))
    (arriving,) = make().fetch(TENANT, [want(ONE)])
    assert arriving.found().kv is not None, "its checksums are right"
    assert arriving.has(0)
    assert not arriving.has(LAST)
    assert arriving.whole().kv is None
    assert arriving.whole().reason == StoreMiss.CORRUPT
    assert store.get(TENANT, ONE) == Miss(StoreMiss.ABSENT)
    assert decoded.nbytes == 0


def test_an_error_that_nobody_foresaw_is_a_miss_too_and_costs_no_blob(store: ChunkStore, make: Make) -> None:
    put_kv(store, ONE, sample_kv())
    gate = GatedCodecs(LAST, MemoryError("no room"))
    gate.open.set()
    (arriving,) = make(gate).fetch(TENANT, [want(ONE)])
    assert not arriving.has(LAST)
    assert arriving.whole().reason == StoreMiss.CORRUPT
    assert store.contains(TENANT, [ONE.key])


def test_a_store_that_fails_in_a_way_nobody_foresaw_makes_nobody_wait(
    store: ChunkStore, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr(store, "get", broken)
    (arriving,) = make().fetch(TENANT, [want(ONE)])
    assert arriving.found().reason == StoreMiss.ABSENT
    assert arriving.done


def test_chunk_kv_of_another_shape_is_dropped(store: ChunkStore, make: Make) -> None:
    put_kv(store, ONE, sample_kv(heads=1))
    (arriving,) = make().fetch(TENANT, [want(ONE)])
    assert arriving.found().reason == StoreMiss.CORRUPT
    assert not store.contains(TENANT, [ONE.key])


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_chunk_kv_of_another_precision_is_dropped(store: ChunkStore, make: Make, dtype: torch.dtype) -> None:
    """The same bytes are other values; what an engine in bfloat16 finds is that, or the preamble in float32."""
    kv = sample_kv()
    put_kv(store, ONE, ChunkKV(*(tuple(each.to(dtype) for each in part) for part in (kv.keys, kv.values))))
    (arriving,) = make().fetch(TENANT, [want(ONE)])
    assert arriving.whole().reason == (StoreMiss.CORRUPT if dtype is torch.float16 else None)


def test_what_is_about_to_be_fetched_is_leased_first(tmp_path: Path, decoded: DecodedChunks) -> None:
    leased: list[set[str]] = []
    released: list[str] = []

    class Leasing(DiskTier):
        def lease(self, tenant: str, keys: Iterable[str], reader: str, seconds: float) -> None:
            leased.append(set(keys))
            super().lease(tenant, keys, reader, seconds)

        def release(self, reader: str) -> None:
            super().release(reader)
            released.append(reader)

        def get(self, tenant: str, key: str) -> bytes | None:
            assert leased, "nothing is read before it is leased"
            return super().get(tenant, key)

    store = ChunkStore([Leasing(tmp_path, 10**7)])
    put_kv(store, ONE, sample_kv())
    shapes = [(HEADS, HEAD_DIM)] * LAYERS
    codecs, chooser = Codecs(Profiles([])), Chooser(store, decoded)
    fetcher = Fetcher(store, codecs, decoded, shapes, ALL, chooser, torch.bfloat16)
    (arriving,) = fetcher.fetch(TENANT, [want(ONE)])
    assert arriving.whole().kv is not None
    assert ONE.key in leased[0]
    (again,) = fetcher.fetch(TENANT, [want(ONE)])
    assert again.whole().tier == decoded.name
    wait_until(lambda: released, "what has been fetched is released")
    fetcher.close()
    assert len(leased) == 1, "what memory holds needs no lease"


def test_what_is_deleted_while_it_is_decoded_is_not_kept_in_memory(
    store: ChunkStore, decoded: DecodedChunks, make: Make
) -> None:
    put_kv(store, ONE, sample_kv())
    gate = GatedCodecs()
    fetcher = make(gate)
    (arriving,) = fetcher.fetch(TENANT, [want(ONE)])
    assert arriving.found().kv is not None
    fetcher.purge(TENANT, [ONE.key])
    gate.open.set()
    assert arriving.whole().kv is not None, "it was asked for before"
    assert decoded.get(TENANT, ONE) is None


def test_half_decoded_chunk_kv_is_not_in_memory_yet(store: ChunkStore, decoded: DecodedChunks, make: Make) -> None:
    put_kv(store, ONE, sample_kv())
    gate = GatedCodecs(LAST)
    (arriving,) = make(gate).fetch(TENANT, [want(ONE)])
    assert arriving.has(0)
    assert decoded.get(TENANT, ONE) is None
    gate.open.set()
    assert arriving.whole().kv is decoded.get(TENANT, ONE)


def test_a_rank_keeps_its_own_heads_in_memory_of_their_own(store: ChunkStore, make: Make) -> None:
    put_kv(store, ONE, sample_kv())
    (arriving,) = make(share=slice(1, 2)).fetch(TENANT, [want(ONE)])
    kv = arriving.whole().kv
    assert kv is not None
    for own, stored in zip(kv.keys + kv.values, sample_kv().keys + sample_kv().values, strict=True):
        assert bool((own == stored[:, 1:2]).all())
        assert own.untyped_storage().nbytes() == own.nbytes


def test_what_was_given_up_is_not_fetched(store: ChunkStore, decoded: DecodedChunks, make: Make) -> None:
    put_kv(store, ONE, sample_kv(1))
    put_kv(store, TWO, sample_kv(2))
    gate = GatedCodecs()
    started: list[str] = []
    get = store.get

    def waiting(tenant: str, identity):  # type: ignore[no-untyped-def]
        started.append(identity.key)
        assert gate.open.wait(20)
        return get(tenant, identity)

    store.get = waiting  # type: ignore[method-assign]
    fetcher = make()
    one, two = fetcher.fetch(TENANT, [want(ONE), want(TWO)])
    wait_until(lambda: started, "the first is being fetched", 20)
    for each in (one, two):
        each.give_up()
    gate.open.set()
    fetcher.close()
    assert started == [ONE.key]


def test_a_tier_that_is_down_is_told_from_an_absent_blob(decoded: DecodedChunks, tmp_path: Path) -> None:
    class Down(DiskTier):
        def get(self, tenant: str, key: str) -> bytes | None:
            raise TierDown("The tier is down.")

    down = ChunkStore([Down(tmp_path / "down", 10**6)])
    shapes = [(HEADS, HEAD_DIM)] * LAYERS
    fetcher = Fetcher(down, Codecs(Profiles([])), decoded, shapes, ALL, Chooser(down, decoded), torch.bfloat16)
    (arriving,) = fetcher.fetch(TENANT, [want(ONE)])
    assert arriving.found().reason == StoreMiss.TIER_DOWN
    fetcher.close()


def test_where_the_better_level_is_gone_the_compact_one_serves(
    store: ChunkStore, decoded: DecodedChunks, make: Make
) -> None:
    compact = at_level(ONE, Level.COMPACT)
    put_kv(store, compact, sample_kv(7))
    fetcher = make()
    (arriving,) = fetcher.fetch(TENANT, [want(ONE)])
    assert same(arriving.whole().kv, sample_kv(7))
    assert decoded.get(TENANT, compact) is arriving.whole().kv
    assert decoded.get(TENANT, ONE) is None, "it would stand for the better one"
    put_kv(store, ONE, sample_kv(1))
    (arriving,) = fetcher.fetch(TENANT, [want(ONE)])
    assert same(arriving.whole().kv, sample_kv(1))


def test_a_damaged_level_is_told_from_one_that_is_not_there(store: ChunkStore, tmp_path: Path, make: Make) -> None:
    put_kv(store, ONE, sample_kv())
    (path,) = tmp_path.rglob("*.kv")
    path.write_bytes(path.read_bytes()[:-1])
    (arriving,) = make().fetch(TENANT, [want(ONE)])
    assert arriving.found().reason == StoreMiss.CORRUPT


@pytest.mark.parametrize(
    ("bytes_per_second", "token_s", "expected"),
    [(1e9, 0.01, "hot"), (4e3, 0.5, "compact"), (1e2, 0.01, "recompute"), (1e2, None, "compact")],
)
def test_what_would_come_too_late_is_fetched_smaller_or_computed(
    store: ChunkStore,
    decoded: DecodedChunks,
    make: Make,
    bytes_per_second: float,
    token_s: float | None,
    expected: str,
) -> None:
    hot, compact = sample_kv(1, tokens=60), sample_kv(2)
    put_kv(store, ONE, hot)
    put_kv(store, at_level(ONE, Level.COMPACT), compact)
    chooser = Chooser(store, decoded, 1.0, lambda: token_s)
    chooser.saw_fetched("disk", int(bytes_per_second * 100), 100.0)
    (arriving,) = make(chooser=chooser).fetch(TENANT, [want(ONE)])
    whole = arriving.whole()
    if expected == "recompute":
        assert (whole.kv, whole.reason) == (None, StoreMiss.LOAD_TIMEOUT)
    else:
        assert same(whole.kv, hot if expected == "hot" else compact)
    assert store.contains(TENANT, [ONE.key])
