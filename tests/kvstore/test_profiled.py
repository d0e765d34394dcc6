"""Codecs with a profile: small, close, and never fooled."""

import contextlib

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from kv_samples import BF16, F16, F32, make_identity
from profile_samples import DIM, HEADS, LAYERS, held_out, make_profile, relative_error

from kvstore.blob import Blob, encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.base import SectionJob
from kvstore.codecs.profiled import ProfiledCodec
from kvstore.errors import BadChunkKV, CorruptBlob
from kvstore.presets import PROFILE_PRESETS

NAMES = [preset.name for preset in PROFILE_PRESETS]
IDENTITY = make_identity()


def codec_of(name: str) -> ProfiledCodec:
    return ProfiledCodec(make_profile(), name)


def round_trip(kv: ChunkKV, name: str) -> ChunkKV:
    codec = codec_of(name)
    return Blob.parse(encode_blob(kv, IDENTITY, codec)).decode(codec)


def like(kv: ChunkKV, change) -> ChunkKV:
    return ChunkKV(tuple(map(change, kv.keys)), tuple(map(change, kv.values)))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("tokens", [1, 3, 16, 255, 256, 257, 600])
def test_what_comes_back_is_close_and_in_16_bits(name, tokens):
    kv = held_out(tokens)
    back = round_trip(kv, name)
    assert back.keys[0].dtype == back.values[0].dtype == BF16
    assert [key.shape for key in back.keys] == [key.shape for key in kv.keys]
    assert relative_error(kv, back) < 0.9


def test_finer_presets_are_closer_and_larger():
    kv = held_out(512)
    names = ["high", "default", "compact", "tiny"]
    errors = [relative_error(kv, round_trip(kv, name)) for name in names]
    sizes = [len(encode_blob(kv, IDENTITY, codec_of(name))) for name in names]
    assert errors == sorted(errors)
    assert sizes == sorted(sizes, reverse=True)
    assert errors[0] < 0.2


def test_the_blob_carries_the_profiles_id_and_the_presets_number():
    codec = codec_of("default")
    blob = Blob.parse(encode_blob(held_out(), IDENTITY, codec))
    assert blob.identity.profile_id == make_profile().id
    assert blob.codec_id == codec.id == 17


@pytest.mark.parametrize(("dtype", "wanted"), [(BF16, BF16), (F32, BF16), (F16, F16)])
def test_float32_is_stored_in_16_bits_and_float16_stays(dtype, wanted):
    assert round_trip(held_out(dtype=dtype), "default").keys[0].dtype == wanted


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf"), 3.4e38])
def test_nan_and_infinity_are_refused(bad):
    kv = held_out(40, dtype=F32)
    kv.values[1][17, 1, 3] = bad
    with pytest.raises(BadChunkKV, match="Layer 1"):
        encode_blob(kv, IDENTITY, codec_of("default"))


def test_kv_of_another_model_is_refused():
    other = ChunkKV((torch.zeros(4, 1, 8),) * LAYERS, (torch.zeros(4, 1, 8),) * LAYERS)
    with pytest.raises(BadChunkKV, match="profile"):
        encode_blob(other, IDENTITY, codec_of("default"))
    deeper = ChunkKV((torch.zeros(4, HEADS, DIM),) * 3, (torch.zeros(4, HEADS, DIM),) * 3)
    with pytest.raises(BadChunkKV, match="profile"):
        encode_blob(deeper, IDENTITY, codec_of("default"))


@pytest.mark.parametrize("name", NAMES)
def test_tokens_that_no_table_foresees_are_kept_exactly(name):
    kv = like(held_out(300), torch.clone)
    for tensor in (*kv.keys, *kv.values):
        tensor[[0, 41, 256]] *= 1e6
    back = round_trip(kv, name)
    for before, after in zip((*kv.keys, *kv.values), (*back.keys, *back.values), strict=True):
        assert torch.equal(before[[0, 41, 256]], after[[0, 41, 256]])
        rest = torch.ones(300, dtype=torch.bool)
        rest[[0, 41, 256]] = False
        assert float((before[rest].float() - after[rest].float()).norm() / before[rest].float().norm()) < 0.9


def test_a_section_of_nothing_but_such_tokens_is_kept_exactly():
    kv = like(held_out(20), lambda tensor: tensor * 1e6)
    back = round_trip(kv, "default")
    assert all(torch.equal(a, b) for a, b in zip(kv.keys + kv.values, back.keys + back.values, strict=True))


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(NAMES), st.integers(1, 300), st.sampled_from([0.0, 1e-30, 1.0, 1e4, 1e30]), st.integers(0, 9))
def test_whatever_is_finite_comes_back_finite(name, tokens, size, seed):
    generator = torch.Generator().manual_seed(seed)
    kv = like(held_out(tokens), lambda tensor: (torch.randn(tensor.shape, generator=generator) * size).to(BF16))
    back = round_trip(kv, name)
    assert all(bool(torch.isfinite(tensor).all()) for tensor in (*back.keys, *back.values))


def test_constant_channels_come_back():
    kv = like(held_out(200), lambda tensor: torch.full_like(tensor, 2.5))
    assert relative_error(kv, round_trip(kv, "high")) < 0.05


def test_a_short_chunk_is_as_small_a_token_as_a_long_one_but_for_the_header():
    codec = codec_of("default")
    long = [sum(map(len, codec.encode_layer(0, *pair))) / 512 for pair in _layer_zero(512)]
    short = [sum(map(len, codec.encode_layer(0, *pair))) / 64 for pair in _layer_zero(64)]
    assert short[0] < 1.3 * long[0]


def _layer_zero(tokens: int):
    kv = held_out(tokens)
    return [(kv.keys[0], kv.values[0])]


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), st.data())
def test_damaged_sections_are_corrupt_or_decode_to_something_finite(name, data):
    codec = codec_of(name)
    kv = held_out(40)
    section = bytearray(codec.encode_layer(0, kv.keys[0], kv.values[0])[0])
    for _ in range(data.draw(st.integers(1, 6))):
        section[data.draw(st.integers(0, len(section) - 1))] = data.draw(st.integers(0, 255))
    cut = section[: data.draw(st.integers(0, len(section)))] if data.draw(st.booleans()) else section
    decode_or_refuse(codec, bytes(cut))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NAMES), st.binary(max_size=400))
def test_arbitrary_sections_never_crash(name, section):
    decode_or_refuse(codec_of(name), section)


def decode_or_refuse(codec: ProfiledCodec, section: bytes) -> None:
    with contextlib.suppress(CorruptBlob):
        codec.decode([SectionJob(0, 0, memoryview(section), torch.empty(40, HEADS, DIM, dtype=BF16))])


def test_a_job_for_another_model_is_corrupt():
    codec = codec_of("default")
    for layer, shape in ((0, (4, 1, 8)), (7, (4, HEADS, DIM))):
        with pytest.raises(CorruptBlob):
            codec.decode([SectionJob(layer, 0, memoryview(b""), torch.empty(shape, dtype=BF16))])


def test_sensitive_tokens_get_finer_steps():
    plan = make_profile().plan("default")
    rows = held_out(512).keys[0].reshape(512, -1).float()
    levels = plan.levels(0, rows, held_out(512).values[0].reshape(512, -1).float())[0].numpy()
    assert levels.min() >= 0
    assert levels.max() <= 3
    assert len(np.unique(levels)) > 1
