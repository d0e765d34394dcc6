"""Codecs that keep each group's minimum and scale: within half a step, and never fooled."""

import contextlib

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from kv_samples import BF16, F16, make_identity, make_kv
from profile_samples import relative_error

from kvstore.blob import Blob, encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.base import SectionJob
from kvstore.codecs.grouped import GroupedCodec
from kvstore.errors import BadChunkKV, CorruptBlob
from kvstore.presets import GROUP_PRESETS

CODECS = {preset.name: GroupedCodec(preset) for preset in GROUP_PRESETS}
ERRORS = {"int8": 0.02, "kivi4": 0.15, "kivi2": 0.7, "int4-outlier": 0.2, "group-int4": 0.2}
BITS = {"int8": 8, "kivi4": 4, "kivi2": 2, "int4-outlier": 4, "group-int4": 4}


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("tokens", [1, 31, 32, 33, 256, 300])
@pytest.mark.parametrize("layers", [((2, 64), (3, 64)), ((1, 5), (3, 3))])
def test_what_comes_back_is_close(name, tokens, layers):
    kv = make_kv(tokens, layers)
    codec = CODECS[name]
    back = Blob.parse(encode_blob(kv, make_identity(), codec)).decode(codec)
    assert relative_error(kv, back) < ERRORS[name]


@pytest.mark.parametrize("name", CODECS)
def test_a_section_has_its_bits_and_little_more(name):
    kv = make_kv(256, ((3, 64),))
    section = CODECS[name].encode_layer(0, kv.keys[0], kv.values[0])[0]
    bits = 8 * len(section) / kv.keys[0].numel()
    assert BITS[name] < bits < BITS[name] + 1.2


def test_outlier_channels_have_eight_bits():
    kv = make_kv(256, ((3, 64),))
    kv.keys[0][:, 0, 5] *= 200
    small = torch.ones(192, dtype=torch.bool)
    small[5] = False

    def error(name):
        codec = CODECS[name]
        out = Blob.parse(encode_blob(kv, make_identity(), codec)).decode(codec).keys[0].reshape(256, -1).float()
        before = kv.keys[0].reshape(256, -1).float()
        return float((out - before)[:, small].norm() / before[:, small].norm())

    assert error("int4-outlier") < error("group-int4") / 3


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), 1e6])
def test_what_float16_bounds_cannot_hold_is_refused(bad):
    kv = make_kv(40)
    kv.keys[1][3, 1, 2] = bad
    with pytest.raises(BadChunkKV, match="Layer 1"):
        encode_blob(kv, make_identity(), CODECS["kivi4"])


def test_float16_stays_float16():
    codec = CODECS["int8"]
    assert Blob.parse(encode_blob(make_kv(key_dtype=F16), make_identity(), codec)).decode(codec).keys[0].dtype == F16


@pytest.mark.parametrize("name", CODECS)
def test_constant_and_zero_groups_come_back_exactly(name):
    for value in (0.0, 2.5):
        full = torch.full((70, 2, 8), value, dtype=BF16)
        codec = CODECS[name]
        back = Blob.parse(encode_blob(ChunkKV((full,), (full,)), make_identity(), codec)).decode(codec)
        assert torch.equal(back.keys[0], full)
        assert torch.equal(back.values[0], full)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(CODECS)), st.data())
def test_damaged_sections_are_corrupt_or_decode(name, data):
    kv = make_kv(40, ((2, 8),))
    section = bytearray(CODECS[name].encode_layer(0, kv.keys[0], kv.values[0])[data.draw(st.integers(0, 1))])
    section[data.draw(st.integers(0, len(section) - 1))] = data.draw(st.integers(0, 255))
    cut = bytes(section[: data.draw(st.integers(0, len(section)))]) + data.draw(st.binary(max_size=3))
    out = torch.empty(40, 2, 8, dtype=BF16)
    with contextlib.suppress(CorruptBlob):
        CODECS[name].decode([SectionJob(0, data.draw(st.integers(0, 1)), memoryview(cut), out)])


def test_bytes_missing_or_too_many_are_corrupt():
    kv = make_kv(40, ((2, 8),))
    section = CODECS["kivi4"].encode_layer(0, kv.keys[0], kv.values[0])[0]
    for bad in (b"", section[:-1], section + b"\x00", b"\x05\x00" + section[2:]):
        with pytest.raises(CorruptBlob):
            CODECS["kivi4"].decode([SectionJob(0, 0, memoryview(bad), torch.empty(40, 2, 8, dtype=BF16))])
