"""Byte planes keep every bit."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kernels.byteplanes import merge_planes, split_planes
from kernels.errors import BadShape

DTYPES = [torch.bfloat16, torch.float16, torch.float32]


@given(st.sampled_from(DTYPES), st.binary(min_size=4, max_size=64))
def test_merging_restores_every_bit_pattern(dtype, memory):
    memory = memory[: len(memory) // 4 * 4]
    tensor = torch.frombuffer(bytearray(memory), dtype=dtype)
    out = torch.empty_like(tensor)
    merge_planes(split_planes(tensor), out)
    assert out.view(torch.uint8).numpy().tobytes() == memory


def test_plane_zero_holds_the_least_significant_bytes():
    tensor = torch.frombuffer(bytearray(b"\x01\x02\x03\x04\x05\x06\x07\x08"), dtype=torch.float32)
    planes = [plane.tobytes() for plane in split_planes(tensor)]
    assert planes == [b"\x01\x05", b"\x02\x06", b"\x03\x07", b"\x04\x08"]


def test_strided_tensors_are_split_in_logical_order():
    tensor = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    by_columns = split_planes(tensor.T)
    assert all(np.array_equal(a, b) for a, b in zip(by_columns, split_planes(tensor.T.contiguous()), strict=True))


@pytest.mark.parametrize("dtype", [torch.float64, torch.int16, torch.int32])
def test_other_dtypes_are_refused(dtype):
    with pytest.raises(BadShape):
        split_planes(torch.zeros(4, dtype=dtype))


@pytest.mark.parametrize("sizes", [(4,), (4, 4, 4), (4, 3), (5, 5)])
def test_planes_that_do_not_fill_the_output_are_refused(sizes):
    planes = [np.zeros(size, np.uint8) for size in sizes]
    with pytest.raises(BadShape):
        merge_planes(planes, torch.zeros(4, dtype=torch.bfloat16))


def test_a_strided_output_is_refused():
    planes = [np.zeros(4, np.uint8)] * 2
    with pytest.raises(BadShape):
        merge_planes(planes, torch.zeros(4, 2, dtype=torch.bfloat16)[:, 0])
