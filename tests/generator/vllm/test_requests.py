"""Requests of every shape are served, and what was cached never changes more than the policy allows."""

from dataclasses import replace

import pytest
import torch
from fusion_rig import TENANT, Answer, Rig, distance, random_ids, segments_of

from app.core.ids import new_id
from generator.choosing import Chooser
from generator.fusion_request import FusionRequest, Segment, SegmentKind
from generator.identity import chunk_identity
from kvstore.blob import encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.codecs import LOSSLESS
from kvstore.codecs.lossless import Lossless
from kvstore.errors import TierDown
from kvstore.key import Reading
from kvstore.levels import Level, at_level
from kvstore.store import ChunkStore, Hit
from kvstore.tiers.disk import DiskTier

SEPARATOR = [7, 8, 9]
QUESTION = random_ids(98, 12)
LAST_LAYER = 3
SAME = 2e-5


def request_for(segments: tuple[Segment, ...], policy: str = "none", *, nested: bool = False) -> FusionRequest:
    return FusionRequest(new_id("ask"), TENANT, policy, segments, nested=nested)


def fuse(rig: Rig, preamble: list[int], *chunks: list[int], policy: str = "none", max_tokens: int = 4) -> Answer:
    ids, segments = prompt(preamble, *chunks)
    return rig.fused(ids, request_for(segments, policy), max_tokens)


def prompt(preamble: list[int], *chunks: list[int]) -> tuple[list[int], tuple[Segment, ...]]:
    segments = segments_of(preamble, *chunks, separator=SEPARATOR)
    ids = list(preamble)
    for number, chunk in enumerate(chunks):
        ids += (SEPARATOR if number else []) + chunk
    return ids + QUESTION, segments


def outcomes(answer: Answer) -> list[str]:
    assert answer.report is not None
    return [chunk.tier or f"miss: {chunk.reason}" for chunk in answer.report.chunks]


def test_the_same_prompt_twice_gives_the_same_answer(rig: Rig, preamble: list[int]) -> None:
    chunks = [random_ids(seed, 90) for seed in (1, 2)]
    rig.preread(preamble, *chunks)
    first, second = fuse(rig, preamble, *chunks), fuse(rig, preamble, *chunks)
    assert first.token_ids == second.token_ids
    assert distance(first, second) == 0
    assert outcomes(second) == ["memory", "memory"]


def test_an_exact_prompt_is_found_in_the_prefix_cache_until_that_is_emptied(rig: Rig, preamble: list[int]) -> None:
    chunks = [random_ids(seed, 90) for seed in (1, 2)]

    def found() -> int:
        answer = fuse(rig, preamble, *chunks, policy="exact")
        assert answer.report is not None
        return answer.report.prefix_tokens

    assert found() == 0
    assert found() > 90
    assert rig.llm.reset_prefix_cache()
    assert found() == 0


def test_another_order_is_a_full_hit_too(rig: Rig, preamble: list[int]) -> None:
    chunks = [random_ids(seed, 90) for seed in (1, 2, 3)]
    rig.preread(preamble, *chunks)
    ids, segments = prompt(preamble, *reversed(chunks))
    nested = rig.fused(ids, request_for(segments, "exact", nested=True))
    assert distance(nested, rig.exact(ids)) <= SAME
    assert all(not outcome.startswith("miss") for outcome in outcomes(fuse(rig, preamble, *reversed(chunks))))


def test_a_missing_middle_chunk_is_fresh_and_its_neighbours_are_reused(rig: Rig, preamble: list[int]) -> None:
    first, missing, last = (random_ids(seed, 90) for seed in (4, 5, 6))
    rig.preread(preamble, first, last)
    answer = fuse(rig, preamble, first, missing, last)
    assert [outcome.startswith("miss") for outcome in outcomes(answer)] == [False, True, False]
    assert outcomes(answer)[1] == "miss: absent"
    assert answer.report is not None
    assert answer.report.fresh_tokens == len(missing) + 2 * len(SEPARATOR)
    assert answer.report.reused_tokens == len(preamble) + len(first) + len(last)


def test_missing_chunks_at_the_end_are_left_to_vllm_and_everything_before_is_exact(
    rig: Rig, preamble: list[int]
) -> None:
    first, second, third = (random_ids(seed, 70) for seed in (7, 8, 9))
    rig.preread(preamble, first)
    answer = fuse(rig, preamble, first, second, third)
    ids, _ = prompt(preamble, first, second, third)
    assert distance(answer, rig.exact(ids, 4)) <= SAME


def test_no_hit_at_all_is_an_ordinary_answer(rig: Rig, preamble: list[int]) -> None:
    chunks = [random_ids(seed, 60) for seed in (201, 202)]
    other_preamble = random_ids(200, 20)
    answer = fuse(rig, other_preamble, *chunks)
    assert outcomes(answer) == ["miss: absent", "miss: absent"]
    assert answer.report is not None
    assert answer.report.reused_tokens == 0
    assert distance(answer, rig.exact(prompt(other_preamble, *chunks)[0], 4)) <= SAME


@pytest.mark.parametrize("policy", ["head@8", "hkvd@.5", "impact@.5"])
def test_behind_a_preamble_that_is_made_fresh_an_opening_chunk_is_exact(
    rig: Rig, preamble: list[int], policy: str
) -> None:
    chunk = random_ids(28, 90)
    rig.preread(preamble, chunk)
    ids, segments = prompt(preamble, chunk)
    without = (Segment(0, len(preamble), SegmentKind.PREAMBLE), *segments[1:])
    answer = rig.fused(ids, request_for(without, policy), 4)
    assert answer.report is not None
    assert (answer.report.fresh_tokens, answer.report.reused_tokens) == (len(preamble), len(chunk))
    assert distance(answer, rig.exact(ids, 4)) <= SAME


def test_a_prompt_without_chunks_is_served_from_the_preamble(rig: Rig, preamble: list[int]) -> None:
    rig.preread(preamble)
    answer = fuse(rig, preamble)
    assert outcomes(answer) == []
    assert distance(answer, rig.exact(preamble + QUESTION, 4)) <= SAME


def test_a_chunk_of_one_token_is_captured_and_reused(rig: Rig, preamble: list[int]) -> None:
    rig.preread(preamble, [42], [43])
    answer = fuse(rig, preamble, [42], [43], policy="head@16")
    assert not any(outcome.startswith("miss") for outcome in outcomes(answer))
    assert answer.report is not None
    assert answer.report.fresh_tokens == len(SEPARATOR) + 1


def test_two_identical_chunks_in_one_prompt_are_each_placed(rig: Rig, preamble: list[int]) -> None:
    chunk = random_ids(11, 80)
    rig.preread(preamble, chunk)
    answer = fuse(rig, preamble, chunk, chunk)
    assert not any(outcome.startswith("miss") for outcome in outcomes(answer))
    ids, segments = prompt(preamble, chunk, chunk)
    assert distance(rig.fused(ids, request_for(segments, "exact", nested=True)), rig.exact(ids)) <= SAME


def test_a_prompt_that_just_fits_is_fused(rig: Rig, preamble: list[int]) -> None:
    limit = rig.status()["max_model_tokens"]
    room = limit - 1 - len(preamble) - len(QUESTION) - len(SEPARATOR)
    chunks = [random_ids(12, room // 2), random_ids(13, room - room // 2)]
    rig.preread(preamble, *chunks)
    ids, segments = prompt(preamble, *chunks)
    assert len(ids) == limit - 1
    nested = rig.fused(ids, request_for(segments, "exact", nested=True))
    assert distance(nested, rig.exact(ids)) <= SAME
    assert outcomes(fuse(rig, preamble, *chunks, max_tokens=1)) != []


def test_several_requests_at_once_answer_as_each_does_alone(rig: Rig, preamble: list[int]) -> None:
    chunks = [random_ids(seed, 100) for seed in (14, 15, 16)]
    rig.preread(preamble, *chunks)
    cases = [
        (prompt(preamble, *chunks), "none"),
        (prompt(preamble, *reversed(chunks)), "head@16"),
        (prompt(preamble, chunks[1], random_ids(17, 50)), "head@8"),
        (prompt(preamble, chunks[2]), "exact"),
    ]
    alone = [rig.fused(ids, request_for(segments, policy), 6) for (ids, segments), policy in cases]
    together = rig.ask([(ids, request_for(segments, policy)) for (ids, segments), policy in cases], 6)
    for one, other in zip(alone, together, strict=True):
        assert one.token_ids == other.token_ids
        assert distance(one, other) <= SAME


def test_fused_kv_is_found_by_no_exact_request(rig: Rig, preamble: list[int]) -> None:
    """The poisoning case: garbage under a valid name, then the same tokens asked exactly."""
    chunk = random_ids(18, 128)
    ids, segments = prompt(preamble, chunk)
    clean = rig.exact(ids)
    rig.preread(preamble, chunk)
    identity = chunk_identity(rig.config.fingerprint, preamble, chunk, Reading.OPENING)
    found = rig.store.get(TENANT, identity)
    assert isinstance(found, Hit)
    kv = found.blob.decode(LOSSLESS)
    keys, values = ([torch.randn_like(tensor) * 3 for tensor in tensors] for tensors in (kv.keys, kv.values))
    garbage = ChunkKV(tuple(keys), tuple(values))
    rig.store.put(TENANT, encode_blob(garbage, identity, LOSSLESS))
    poisoned = rig.fused(ids, request_for(segments))
    assert distance(poisoned, clean) > 1e-2, "the garbage must have been loaded, or this test proves nothing"
    assert distance(rig.fused(ids, request_for(segments, "exact")), clean) <= SAME
    assert distance(rig.exact(ids), clean) <= SAME


def test_a_corrupt_blob_is_a_miss_and_the_answer_is_exact(rig: Rig, preamble: list[int]) -> None:
    chunk = random_ids(19, 90)
    rig.preread(preamble, chunk)
    key = chunk_identity(rig.config.fingerprint, preamble, chunk, Reading.OPENING).key
    (path,) = [path for path in rig.kv_files() if path.stem == key]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(data)
    answer = fuse(rig, preamble, chunk)
    assert outcomes(answer) == ["miss: corrupt"]
    assert distance(answer, rig.exact(prompt(preamble, chunk)[0], 4)) <= SAME
    assert not path.exists(), "the corrupt blob is dropped"


class SpoiltLastLayer(Lossless):
    """Writes the last layer as bytes that have the right checksums and decode to nothing."""

    def encode_layer(self, layer: int, keys: torch.Tensor, values: torch.Tensor) -> list[bytes]:
        sections = super().encode_layer(layer, keys, values)
        return [b"\xff" * len(section) for section in sections] if layer == LAST_LAYER else sections


@pytest.mark.parametrize("policy", ["none", "impact@.2", "hkvd@.2"])
def test_a_blob_that_fails_when_its_first_layers_are_written_is_a_miss(
    rig: Rig, preamble: list[int], policy: str
) -> None:
    """Its neighbours are reused, and its own tokens are fresh wherever they were half written."""
    chunks = [random_ids(seed, 90) for seed in (120, 121)]
    rig.preread(preamble, *chunks)
    identity, kv = rig.staged(preamble, chunks[0], Reading.OPENING)
    rig.worker_side.purge(TENANT, [identity.key])
    wanted = fuse(rig, preamble, *chunks, policy=policy)
    assert outcomes(wanted)[0] == "miss: absent"
    rig.store.put(TENANT, encode_blob(kv, identity, SpoiltLastLayer()))
    answer = fuse(rig, preamble, *chunks, policy=policy)
    assert outcomes(answer)[0] == "miss: corrupt"
    assert not outcomes(answer)[1].startswith("miss")
    assert distance(answer, wanted) <= SAME
    assert not rig.store.contains(TENANT, [identity.key])


def test_a_blob_of_other_text_under_this_name_is_never_used(rig: Rig, preamble: list[int]) -> None:
    mine, other = random_ids(21, 90), random_ids(22, 90)
    rig.preread(preamble, mine, other)
    names = [chunk_identity(rig.config.fingerprint, preamble, ids, Reading.OPENING).key for ids in (mine, other)]
    paths = {path.stem: path for path in rig.kv_files()}
    paths[names[0]].write_bytes(paths[names[1]].read_bytes())
    answer = fuse(rig, preamble, mine)
    assert outcomes(answer) == ["miss: corrupt"]
    assert distance(answer, rig.exact(prompt(preamble, mine)[0], 4)) <= SAME


def test_a_blob_that_goes_between_look_up_and_load_only_makes_more_tokens_fresh(
    rig: Rig, preamble: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    chunk = random_ids(23, 90)
    rig.preread(preamble, chunk)
    key = chunk_identity(rig.config.fingerprint, preamble, chunk, Reading.OPENING).key
    commit = rig.scheduler_side.commit

    def commit_then_lose(*arguments: object) -> None:
        commit(*arguments)  # type: ignore[arg-type]
        rig.store.delete(TENANT, [key])

    monkeypatch.setattr(rig.scheduler_side, "commit", commit_then_lose)
    answer = fuse(rig, preamble, chunk)
    assert outcomes(answer) == ["miss: absent"]
    assert distance(answer, rig.exact(prompt(preamble, chunk)[0], 4)) <= SAME


def test_a_chunk_of_which_only_the_compact_level_is_left_is_reused_and_purged(rig: Rig, preamble: list[int]) -> None:
    chunk = random_ids(122, 90)
    rig.preread(preamble, chunk)
    identity, kv = rig.staged(preamble, chunk, Reading.OPENING)
    rig.worker_side.purge(TENANT, [identity.key])
    rig.store.put(TENANT, encode_blob(kv, at_level(identity, Level.COMPACT), LOSSLESS))
    assert outcomes(fuse(rig, preamble, chunk)) == ["disk"]
    again = fuse(rig, preamble, chunk)
    assert outcomes(again) == ["memory"]
    assert distance(again, rig.exact(prompt(preamble, chunk)[0], 4)) <= SAME
    rig.llm.collective_rpc("preread_purge", args=(TENANT, [identity.key]))
    assert outcomes(fuse(rig, preamble, chunk)) == ["miss: absent"]


def test_a_chunk_that_is_computed_sooner_than_it_could_be_loaded_is_a_miss_with_that_reason(
    rig: Rig, preamble: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks = [random_ids(seed, 90) for seed in (123, 124)]
    rig.preread(preamble, *chunks)
    fetcher = rig.worker_side._fetcher
    slow = Chooser(rig.store, fetcher._decoded, 0.001, lambda: 1e-9)
    slow.saw_fetched("disk", 1, 10.0)
    monkeypatch.setattr(fetcher, "_chooser", slow)
    answer = fuse(rig, preamble, *chunks)
    assert outcomes(answer) == ["miss: load_timeout"] * 2
    assert distance(answer, rig.exact(prompt(preamble, *chunks)[0], 4)) <= SAME


def test_another_tenants_chunk_kv_is_not_seen(rig: Rig, preamble: list[int]) -> None:
    chunk = random_ids(24, 90)
    rig.preread(preamble, chunk)
    ids, segments = prompt(preamble, chunk)
    answer = rig.fused(ids, FusionRequest(new_id("ask"), "strangers", "none", segments))
    assert outcomes(answer) == ["miss: absent"]


def test_purged_chunk_kv_is_gone_from_the_engines_memory(rig: Rig, preamble: list[int]) -> None:
    chunk = random_ids(25, 90)
    rig.preread(preamble, chunk)
    fuse(rig, preamble, chunk)
    assert outcomes(fuse(rig, preamble, chunk)) == ["memory"]
    key = chunk_identity(rig.config.fingerprint, preamble, chunk, Reading.OPENING).key
    rig.llm.collective_rpc("preread_purge", args=(TENANT, [key]))
    assert outcomes(fuse(rig, preamble, chunk)) == ["miss: absent"]


def test_memory_is_emptied_also_while_a_tier_does_not_answer(
    rig: Rig, preamble: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    chunk = random_ids(30, 90)
    rig.preread(preamble, chunk)
    fuse(rig, preamble, chunk)
    key = chunk_identity(rig.config.fingerprint, preamble, chunk, Reading.OPENING).key

    def down(*_: object) -> None:
        raise TierDown("The disk does not answer.")

    with monkeypatch.context() as patch:
        patch.setattr(DiskTier, "delete", down)
        rig.llm.collective_rpc("preread_purge", args=(TENANT, [key]))
    assert outcomes(fuse(rig, preamble, chunk)) == ["disk"]


def test_a_chunk_whose_readings_are_withheld_is_computed(rig: Rig, preamble: list[int]) -> None:
    chunks = random_ids(31, 90), random_ids(32, 90)
    for chunk in chunks:
        rig.preread(preamble, chunk)
    ids, segments = prompt(preamble, *chunks)
    nothing = tuple(replace(segment, readings=()) for segment in segments)
    assert outcomes(rig.fused(ids, request_for((*segments[:-1], nothing[-1])))) == ["disk", "miss: absent"]
    assert distance(rig.fused(ids, request_for(nothing)), rig.exact(ids)) <= SAME


def test_an_unreadable_fusion_request_is_served_exactly(rig: Rig, preamble: list[int]) -> None:
    chunk = random_ids(26, 60)
    ids, segments = prompt(preamble, chunk)
    answer = rig.fused(ids, FusionRequest(new_id("ask"), TENANT, "no-such-policy", segments))
    assert answer.report is None
    assert distance(answer, rig.exact(ids)) <= SAME


def test_segments_longer_than_the_prompt_are_served_exactly(rig: Rig) -> None:
    ids = random_ids(27, 50)
    answer = rig.fused(ids, request_for((Segment(0, 60, SegmentKind.CHUNK, (Reading.OPENING,)),)))
    assert distance(answer, rig.exact(ids)) <= SAME


def test_a_store_that_is_down_only_makes_the_answer_exact(
    rig: Rig, preamble: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    chunk = random_ids(28, 90)
    rig.preread(preamble, chunk)

    def down(*_: object) -> None:
        raise TierDown("The disk does not answer.")

    monkeypatch.setattr(ChunkStore, "contains", down)
    answer = fuse(rig, preamble, chunk)
    assert outcomes(answer) == ["miss: tier_down"]
    assert distance(answer, rig.exact(prompt(preamble, chunk)[0], 4)) <= SAME


def test_a_tenant_that_is_no_name_is_served_exactly(rig: Rig, preamble: list[int]) -> None:
    ids, segments = prompt(preamble, random_ids(29, 60))
    answer = rig.fused(ids, FusionRequest(new_id("ask"), "../others", "none", segments))
    assert answer.report is None
    assert distance(answer, rig.exact(ids)) <= SAME
