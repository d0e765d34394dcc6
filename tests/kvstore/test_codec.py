"""Codecs are bit-exact, and refuse bytes that no encoder wrote."""

import contextlib
import struct

import pytest
import torch
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from kv_samples import BF16, F16, F32

from kvstore.codec import LOSSLESS, RAW, codec_by_id, codec_by_name
from kvstore.errors import BadName, CorruptBlob

CODECS = st.sampled_from([RAW, LOSSLESS])
DTYPES = st.sampled_from([BF16, F16, F32])


def tensor_of(memory: bytes, dtype) -> torch.Tensor:
    return torch.frombuffer(bytearray(memory), dtype=dtype).view(-1, 1, 2)


def bits(tensor: torch.Tensor) -> bytes:
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


@given(CODECS, DTYPES, st.binary(min_size=8, max_size=80), st.integers(1, 200))
def test_every_bit_pattern_survives_nan_payloads_included(codec, dtype, memory, repeats):
    tensor = tensor_of(memory[: len(memory) // 8 * 8] * repeats, dtype)
    decoded = codec.decode_section(memoryview(codec.encode_section(tensor)), dtype, tuple(tensor.shape))
    assert decoded.dtype == dtype
    assert decoded.shape == tensor.shape
    assert bits(decoded) == bits(tensor)


@given(CODECS, DTYPES)
def test_a_section_decodes_into_the_tensor_it_is_given(codec, dtype):
    tensor = torch.randn(16, 2, 8).to(dtype)
    out = torch.empty_like(tensor)
    assert codec.decode_section(memoryview(codec.encode_section(tensor)), dtype, (16, 2, 8), out=out) is out
    assert torch.equal(out, tensor)


def test_strided_and_shared_tensors_are_encoded_in_logical_order():
    whole = torch.randn(8, 4, 16).to(BF16)
    part = whole[:, 1:3, ::2]
    for codec in (RAW, LOSSLESS):
        assert codec.encode_section(part) == codec.encode_section(part.contiguous())


def test_lossless_makes_ordinary_kv_smaller_and_noise_hardly_larger():
    ordinary = torch.randn(256, 3, 64).to(BF16)
    noise = torch.randint(0, 256, (256, 3, 128), dtype=torch.uint8).view(BF16)
    assert len(LOSSLESS.encode_section(ordinary)) < 0.72 * ordinary.nbytes
    assert len(LOSSLESS.encode_section(noise)) <= noise.nbytes + 8


@given(CODECS, DTYPES, st.binary(max_size=300))
def test_arbitrary_bytes_are_corrupt_or_decode_to_the_wanted_shape(codec, dtype, memory):
    with contextlib.suppress(CorruptBlob):
        assert codec.decode_section(memoryview(memory), dtype, (3, 1, 2)).shape == (3, 1, 2)


def plane_frame(**options) -> bytes:
    return zstandard.ZstdCompressor(**options).compress(b"\x00" * 64)


@pytest.mark.parametrize(
    "frame",
    [
        b"",
        plane_frame()[:-1],
        plane_frame(write_content_size=False),
        zstandard.ZstdCompressor().compress(b"\x00" * 65),
        zstandard.ZstdCompressor().compress(b"\x00" * (1 << 40 >> 16)),
        b"\x28\xb5\x2f\xfd\xc0" + b"\x00" * 8 + struct.pack("<Q", 1 << 50),
        b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 1 << 62),
        plane_frame() + b"\x00",
        plane_frame() + plane_frame(),
    ],
)
def test_a_plane_that_states_or_holds_another_size_is_corrupt(frame):
    section = struct.pack("<2I", 64, len(frame)) + b"\x00" * 64 + frame
    with pytest.raises(CorruptBlob):
        LOSSLESS.decode_section(memoryview(section), BF16, (16, 1, 4))


@pytest.mark.parametrize("section", [b"", b"\x00" * 7, struct.pack("<2I", 64, 2**32 - 1) + b"\x00" * 64])
def test_plane_lengths_that_do_not_fill_the_section_are_corrupt(section):
    with pytest.raises(CorruptBlob):
        LOSSLESS.decode_section(memoryview(section), BF16, (16, 1, 4))


def test_codecs_are_found_by_id_and_by_name():
    for codec in (RAW, LOSSLESS):
        assert codec_by_id(codec.id) is codec
        assert codec_by_name(codec.name) is codec
    with pytest.raises(CorruptBlob):
        codec_by_id(99)
    with pytest.raises(BadName):
        codec_by_name("zip")
