"""Chunk KV that was stored small is read back by the engine, close to what it was; without its profile it is a miss."""

from pathlib import Path

import pytest
import torch
from fusion_rig import TENANT, Rig, distance, random_ids, request_for, segments_of

from kvstore.blob import encode_blob
from kvstore.calibration import CalibrationSample, calibrate
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.codecs import PLAIN
from kvstore.codecs.profiled import ProfiledCodec
from kvstore.key import Reading
from kvstore.presets import profile_presets
from kvstore.profile_file import write_profile

QUESTION = random_ids(99, 20)


def sample_of(kv: ChunkKV) -> CalibrationSample:
    """With gradients so even that a step of `default` is a fifth of the keys' standard deviation."""
    rows = torch.stack([torch.stack([layer.float() for layer in part]) for part in (kv.keys, kv.values)])
    (default,) = profile_presets(["default"])
    return CalibrationSample(rows, torch.full((1, *rows.shape), default.step / (0.2 * float(rows[0].std()))))


def read_chunk(rig: Rig, preamble: list[int], seed: int) -> tuple[list[int], ChunkKV]:
    chunk = random_ids(seed, 200)
    rig.preread(preamble, chunk)
    _, kv = rig.staged(preamble, chunk, Reading.OPENING)
    return chunk, kv


def store(rig: Rig, preamble: list[int], chunk: list[int], kv: ChunkKV, codec) -> str:
    identity, _ = rig.staged(preamble, chunk, Reading.OPENING)
    rig.worker_side.purge(TENANT, [identity.key])
    rig.store.put(TENANT, encode_blob(kv, identity, codec))
    return identity.key


@pytest.mark.parametrize(("preset", "bound"), [("int8", 2e-3), ("kivi4", 5e-2)])
def test_quantised_chunk_kv_answers_nearly_as_the_exact_run(rig: Rig, preamble: list[int], preset, bound) -> None:
    chunk, kv = read_chunk(rig, preamble, 80)
    store(rig, preamble, chunk, kv, PLAIN[preset])
    ids = [*preamble, *chunk, *QUESTION]
    fused = rig.fused(ids, request_for("none", segments_of(preamble, chunk)))
    assert fused.report is not None
    assert fused.report.reused_tokens == len(preamble) + len(chunk)
    assert 0 < distance(rig.exact(ids), fused) < bound


def test_a_profiles_preset_is_read_by_the_engine_and_without_the_profile_it_is_a_miss(
    rig: Rig, preamble: list[int]
) -> None:
    samples = [sample_of(read_chunk(rig, preamble, seed)[1]) for seed in (70, 71, 72)]
    profile = calibrate(samples, profile_presets(["default"]), [rig.config.fingerprint], {})
    chunk, kv = read_chunk(rig, preamble, 90)
    key = store(rig, preamble, chunk, kv, ProfiledCodec(profile, "default"))
    ids, segments = [*preamble, *chunk, *QUESTION], segments_of(preamble, chunk)
    exact = rig.exact(ids)

    missed = rig.fused(ids, request_for("none", segments))
    assert missed.report is not None
    assert [chunk.reason for chunk in missed.report.chunks] == ["stale_profile"]
    assert distance(exact, missed) <= 2e-5
    assert rig.store.contains(TENANT, [key]) == set()

    write_profile(Path(rig.config.profiles_dir), profile)
    store(rig, preamble, chunk, kv, ProfiledCodec(profile, "default"))
    fused = rig.fused(ids, request_for("none", segments))
    assert fused.report is not None
    assert [chunk.reason for chunk in fused.report.chunks] == [None]
    assert 0 < distance(exact, fused) < 5e-2
