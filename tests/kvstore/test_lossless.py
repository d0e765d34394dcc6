"""The codecs raw and lossless are bit-exact, and refuse bytes that no encoder wrote."""

import contextlib
import struct

import pytest
import torch
import zstandard
from hypothesis import given
from hypothesis import strategies as st
from kv_samples import BF16, F16, F32

from kvstore.codecs.base import SectionJob
from kvstore.codecs.codecs import LOSSLESS, RAW
from kvstore.errors import CorruptBlob

CODECS = st.sampled_from([RAW, LOSSLESS])
DTYPES = st.sampled_from([BF16, F16, F32])


def tensor_of(memory: bytes, dtype) -> torch.Tensor:
    return torch.frombuffer(bytearray(memory), dtype=dtype).view(-1, 1, 2)


def section_of(codec, tensor) -> bytes:
    """The keys' section, where both keys and values are `tensor`."""
    return codec.encode_layer(0, tensor, tensor)[0]


def decoded(codec, section, dtype, shape) -> torch.Tensor:
    out = torch.empty(shape, dtype=dtype)
    codec.decode([SectionJob(0, 0, memoryview(section), out)])
    return out


def bits(tensor: torch.Tensor) -> bytes:
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


@given(CODECS, DTYPES, st.binary(min_size=8, max_size=80), st.integers(1, 200))
def test_every_bit_pattern_survives_nan_payloads_included(codec, dtype, memory, repeats):
    tensor = tensor_of(memory[: len(memory) // 8 * 8] * repeats, dtype)
    assert codec.decoded_dtype(dtype) == dtype
    sections = codec.encode_layer(0, tensor, tensor)
    runs = torch.split(tensor, 256)
    assert len(sections) == 2 * len(runs)
    for section, run in zip(sections, (*runs, *runs), strict=True):
        assert bits(decoded(codec, section, dtype, run.shape)) == bits(run)


def test_strided_and_shared_tensors_are_encoded_in_logical_order():
    whole = torch.randn(8, 4, 16).to(BF16)
    part = whole[:, 1:3, ::2]
    for codec in (RAW, LOSSLESS):
        assert section_of(codec, part) == section_of(codec, part.contiguous())


def test_lossless_makes_ordinary_kv_smaller_and_noise_hardly_larger():
    ordinary = torch.randn(256, 3, 64).to(BF16)
    noise = torch.randint(0, 256, (256, 3, 128), dtype=torch.uint8).view(BF16)
    assert len(section_of(LOSSLESS, ordinary)) < 0.72 * ordinary.nbytes
    assert len(section_of(LOSSLESS, noise)) <= noise.nbytes + 8


@given(CODECS, DTYPES, st.binary(max_size=300))
def test_arbitrary_bytes_are_corrupt_or_decode(codec, dtype, memory):
    with contextlib.suppress(CorruptBlob):
        decoded(codec, memory, dtype, (3, 1, 2))


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
        decoded(LOSSLESS, section, BF16, (16, 1, 4))


@pytest.mark.parametrize("section", [b"", b"\x00" * 7, struct.pack("<2I", 64, 2**32 - 1) + b"\x00" * 64])
def test_plane_lengths_that_do_not_fill_the_section_are_corrupt(section):
    with pytest.raises(CorruptBlob):
        decoded(LOSSLESS, section, BF16, (16, 1, 4))
