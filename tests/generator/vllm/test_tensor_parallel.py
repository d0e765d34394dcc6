"""Tensor parallelism: two ranks with half the heads each answer as one process does, and always do the same."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from crowd import Crowd
from fusion_rig import TENANT, Answer, Rig, distance, random_ids, segments_of
from rank_probes import (
    held_heads,
    refuse_to_fuse,
    spoil_decoding,
    spoil_next_read,
    watch_writes,
    watched_writes,
)
from tiny_models import save_tiny_model

from app.core.ids import new_id
from generator.fusion_request import FusionRequest, Segment
from generator.identity import chunk_identity
from generator.launch import core_lists
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.codecs import LOSSLESS
from kvstore.key import Reading
from kvstore.store import Hit

pytestmark = pytest.mark.alone

QUESTION = random_ids(95, 12)
SAME = 2e-5


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """The whole model in one process."""
    state = tmp_path_factory.mktemp("one")
    rig = Rig.start(save_tiny_model("llama", state / "model"), state)
    yield rig
    rig.close()


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """The same model split over two processes."""
    rig = split("llama", tmp_path_factory.mktemp("two"))
    yield rig
    rig.close()


def split(kind: str, state: Path) -> Rig:
    """An engine over two processes, one core each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VLLM_CPU_OMP_THREADS_BIND", core_lists(ranks=2, threads=2))
        return Rig.start(save_tiny_model(kind, state / "model"), state, tensor_parallel_size=2)


def prompt(preamble: list[int], *chunks: list[int]) -> tuple[list[int], tuple[Segment, ...]]:
    return [*preamble, *(token for chunk in chunks for token in chunk), *QUESTION], segments_of(preamble, *chunks)


def fuse(rig: Rig, preamble: list[int], *chunks: list[int], policy: str = "none", nested: bool = False) -> Answer:
    ids, segments = prompt(preamble, *chunks)
    return rig.fused(ids, FusionRequest(new_id("ask"), TENANT, policy, segments, nested=nested), 4)


def exact(rig: Rig, preamble: list[int], *chunks: list[int]) -> Answer:
    return rig.exact(prompt(preamble, *chunks)[0], 4)


def stored(rig: Rig, preamble: list[int], chunk: list[int]) -> ChunkKV:
    found = rig.store.get(TENANT, chunk_identity(rig.config.fingerprint, preamble, chunk, Reading.OPENING))
    assert isinstance(found, Hit)
    return found.blob.decode(LOSSLESS)


def test_the_ranks_hold_half_of_the_heads_each_and_the_engine_fuses(two: Rig, preamble: list[int]) -> None:
    assert two.status()["fusion"] is True
    chunk = random_ids(1, 80)
    two.preread(preamble, chunk)
    fuse(two, preamble, chunk)
    assert two.llm.collective_rpc(held_heads) == [{1}, {1}]


def test_chunk_kv_holds_all_heads_and_is_what_one_process_captures(one: Rig, two: Rig, preamble: list[int]) -> None:
    chunk = random_ids(2, 200)
    one.preread(preamble, chunk)
    two.preread(preamble, chunk)
    for ours, theirs in zip(
        (stored(one, preamble, chunk).keys, stored(one, preamble, chunk).values),
        (stored(two, preamble, chunk).keys, stored(two, preamble, chunk).values),
        strict=True,
    ):
        errors = [float((a - b).abs().max() / a.abs().max()) for a, b in zip(ours, theirs, strict=True)]
        print(f"largest difference of captured KV, per layer, relative: {errors}")
        assert errors[0] == 0, "before the first sum over ranks everything is the same arithmetic"
        assert max(errors) < 1e-5


def test_with_every_token_fresh_two_ranks_answer_as_vllm_does(two: Rig, preamble: list[int]) -> None:
    chunks = [random_ids(seed, 120) for seed in (3, 4, 5)]
    two.preread(preamble, *chunks)
    plain = exact(two, preamble, *chunks)
    nested = fuse(two, preamble, *chunks, policy="exact", nested=True)
    reused = fuse(two, preamble, *chunks)
    assert nested.report is not None
    assert nested.report.fresh_tokens == nested.report.context_tokens
    assert distance(plain, nested) <= SAME
    assert distance(plain, reused) > 10 * SAME, "plain reuse must differ, or this test proves nothing"


def test_an_opening_chunk_in_first_place_equals_full_prefill(two: Rig, preamble: list[int]) -> None:
    chunk = random_ids(6, 150)
    two.preread(preamble, chunk)
    fused, plain = fuse(two, preamble, chunk), exact(two, preamble, chunk)
    assert fused.report is not None
    assert fused.report.reused_tokens == len(preamble) + len(chunk)
    assert fused.token_ids == plain.token_ids
    assert distance(plain, fused) <= SAME


def test_what_two_ranks_pre_read_serves_one_process_and_the_other_way_round(
    one: Rig, two: Rig, preamble: list[int]
) -> None:
    chunks = [random_ids(seed, 90) for seed in (7, 8)]
    for reader, server in ((one, two), (two, one)):
        reader.preread(preamble, *chunks)
        own = fuse(reader, preamble, *chunks, policy="impact@.2")
        for path in reader.kv_files():
            server.store.put(TENANT, path.read_bytes())
        other = fuse(server, preamble, *chunks, policy="impact@.2")
        assert other.report is not None
        assert [chunk.reason for chunk in other.report.chunks] == [None, None]
        assert distance(own, other) <= SAME
        keys = [path.stem for path in server.kv_files()]
        server.llm.collective_rpc("preread_purge", args=(TENANT, keys))
        assert all(not chunk.tier for chunk in fuse(server, preamble, *chunks).report.chunks)


@pytest.mark.parametrize("policy", ["none", "head@8", "impact@.1", "hkvd@.1", "exact"])
def test_both_ranks_load_and_compute_the_same_positions(two: Rig, preamble: list[int], policy: str) -> None:
    chunks = [random_ids(seed, 90) for seed in (9, 10, 11)]
    two.preread(preamble, *chunks)
    two.llm.collective_rpc(watch_writes)
    fuse(two, preamble, *chunks, policy=policy)
    first, second = two.llm.collective_rpc(watched_writes)
    assert first
    assert first == second


def test_a_request_beside_a_running_answer_joins_it_once_both_ranks_have_its_kv(two: Rig, preamble: list[int]) -> None:
    chunks = [random_ids(seed, 90) for seed in (12, 13)]
    two.preread(preamble, *chunks)
    alone = fuse(two, preamble, *chunks, policy="impact@.1")
    ids, segments = prompt(preamble, *chunks)
    crowd = Crowd(two)
    running = crowd.add(random_ids(14, 30), None, 60)
    crowd.step()
    crowd.step()
    asked = crowd.add(ids, FusionRequest(new_id("ask"), TENANT, "impact@.1", segments), 4)
    crowd.finish()
    assert crowd.tokens[asked] == alone.token_ids
    assert crowd.steps[asked][-1] < crowd.steps[running][-1], "it waited until the other answer had ended"


@pytest.mark.parametrize("rank", [0, 1])
@pytest.mark.parametrize("gone", [False, True])
def test_what_one_rank_cannot_read_is_a_miss_on_both(two: Rig, preamble: list[int], rank: int, gone: bool) -> None:
    chunk = random_ids(20 + 2 * rank + gone, 90)
    two.preread(preamble, chunk)
    two.llm.collective_rpc(watch_writes)
    two.llm.collective_rpc(spoil_next_read, args=(rank,), kwargs={"gone": gone})
    answer = fuse(two, preamble, chunk)
    assert answer.report is not None
    assert answer.report.fresh_tokens > 0
    assert distance(answer, exact(two, preamble, chunk)) <= SAME
    first, second = two.llm.collective_rpc(watched_writes)
    assert first == second


@pytest.mark.parametrize("rank", [0, 1])
def test_what_one_rank_fails_to_decode_when_it_is_half_written_is_a_miss_on_both(
    two: Rig, preamble: list[int], rank: int
) -> None:
    chunk = random_ids(40 + rank, 90)
    two.preread(preamble, chunk)
    key = chunk_identity(two.config.fingerprint, preamble, chunk, Reading.OPENING).key
    two.llm.collective_rpc(spoil_decoding, args=(rank, key))
    two.llm.collective_rpc(watch_writes)
    answer = fuse(two, preamble, chunk)
    assert answer.report is not None
    assert [each.reason for each in answer.report.chunks] == ["corrupt"]
    assert distance(answer, exact(two, preamble, chunk)) <= SAME
    first, second = two.llm.collective_rpc(watched_writes)
    assert first[-1] == second[-1]


def test_one_rank_that_must_not_fuse_stops_all(two: Rig) -> None:
    assert two.llm.collective_rpc(refuse_to_fuse, args=(1,)) == ["layer 3 is off"] * 2


def test_a_head_that_both_ranks_hold_is_stored_once(
    tmp_path_factory: pytest.TempPathFactory, preamble: list[int]
) -> None:
    rig = split("one-kv-head", tmp_path_factory.mktemp("copies"))
    try:
        chunk = random_ids(30, 100)
        rig.preread(preamble, chunk)
        assert {keys.shape[1] for keys in stored(rig, preamble, chunk).keys} == {1}
        fused = fuse(rig, preamble, chunk)
        assert fused.report is not None
        assert fused.report.reused_tokens == len(preamble) + len(chunk)
        assert distance(fused, exact(rig, preamble, chunk)) <= SAME
    finally:
        rig.close()
