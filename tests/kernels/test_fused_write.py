"""The fused kernel writes what the reference writes, and nothing else, into every layout of the cache."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.errors import BadShape
from kernels.fused_reference import Rotation, Section, write_reference
from kernels.fused_selftest import fused_matches
from kernels.fused_write import write_section

BLOCK_SIZE = 16
HEADS = st.sampled_from([(3, 64), (2, 80), (1, 16), (4, 32)])
LAYOUTS = {
    "halves first": lambda blocks, heads, dim: torch.zeros(2, blocks, BLOCK_SIZE, heads, dim).unbind(0),
    "halves inside": lambda blocks, heads, dim: torch.zeros(blocks, 2, BLOCK_SIZE, heads, dim).unbind(1),
    "heads first": lambda blocks, heads, dim: torch.zeros(2, blocks, heads, BLOCK_SIZE, dim).transpose(2, 3).unbind(0),
}


def a_cache(tokens, heads, dim, layout="halves first", dtype=torch.float32):
    """(keys, values), some blocks more than the tokens need."""
    return [half.to(dtype) for half in LAYOUTS[layout](tokens // BLOCK_SIZE + 3, heads, dim)]


def a_section(planes, tokens, width, exceptions=0, seed=0):
    random = torch.Generator().manual_seed(seed)
    places = torch.randperm(planes * tokens, generator=random)[:exceptions]
    return Section(
        symbols=torch.randint(0, 256, (planes, tokens), dtype=torch.uint8, generator=random),
        rows=torch.randn(planes, width, generator=random) / 64,
        mean=torch.randn(width, generator=random),
        scales=0.5 ** torch.randint(0, 4, (tokens,), generator=random),
        exception_planes=places // tokens,
        exception_tokens=places % tokens,
        exception_values=torch.randn(len(places), generator=random) * 400,
    )


def a_rotation(tokens, rotary_dim, neox, dtype=torch.float32):
    angles = torch.arange(tokens)[:, None] * 10_000.0 ** -(torch.arange(0, rotary_dim, 2) / rotary_dim)
    return Rotation(angles.cos().to(dtype), angles.sin().to(dtype), neox)


def some_slots(cache, tokens, seed=0):
    """Scattered over the cache, every fifth token left out."""
    slots = torch.randperm(cache.shape[0] * BLOCK_SIZE, generator=torch.Generator().manual_seed(seed))[:tokens]
    slots[4::5] = -1
    return slots


def assert_writes_alike(section, half, slots, rotation=None):
    expected = half.clone()
    write_reference(section, expected, slots, rotation)
    write_section(section, half, slots, rotation)
    torch.testing.assert_close(half, expected, rtol=torch.finfo(half.dtype).eps, atol=2e-4)


def test_a_token_is_the_mean_and_its_scaled_coefficients_times_the_rows():
    section = a_section(3, 2, 16, exceptions=1)
    keys, _ = a_cache(2, 1, 16)
    write_reference(section, keys, torch.tensor([5, 33]))
    coefficients = [[float(section.symbols[plane, token]) - 128 for token in range(2)] for plane in range(3)]
    coefficients[section.exception_planes][section.exception_tokens] = float(section.exception_values)
    for token, (block, place) in enumerate([(0, 5), (2, 1)]):
        parts = [coefficients[plane][token] * section.rows[plane] for plane in range(3)]
        torch.testing.assert_close(keys[block, place, 0], section.mean + section.scales[token] * sum(parts))


@settings(max_examples=20)
@given(
    st.integers(1, 40), st.integers(1, 70), HEADS, st.integers(0, 40), st.sampled_from([True, False, None]), st.data()
)
def test_any_section_is_written_as_the_reference_writes_it(planes, tokens, shape, exceptions, neox, data):
    heads, dim = shape
    section = a_section(planes, tokens, heads * dim, min(exceptions, planes * tokens), data.draw(st.integers(0, 99)))
    keys, _ = a_cache(tokens, heads, dim)
    rotary_dim = data.draw(st.sampled_from([dim, dim // 2, 2]))
    rotation = None if neox is None else a_rotation(tokens, rotary_dim, neox, torch.bfloat16)
    assert_writes_alike(section, keys, some_slots(keys, tokens), rotation)


@pytest.mark.parametrize("tokens", [1, 15, 16, 17, 255, 256])
def test_every_number_of_tokens_is_written(tokens):
    keys, _ = a_cache(tokens, 1, 16)
    assert_writes_alike(a_section(3, tokens, 16, 2), keys, some_slots(keys, tokens), a_rotation(tokens, 16, neox=True))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_only_the_slots_of_one_half_are_touched_in_every_layout_and_dtype(layout, dtype):
    keys, values = a_cache(40, 2, 32, layout, dtype)
    values.fill_(7)
    slots = some_slots(values, 40)
    assert_writes_alike(a_section(20, 40, 64), values, slots)
    assert not keys.any()
    untouched = torch.ones(values.shape[0] * BLOCK_SIZE, dtype=torch.bool)
    untouched[slots[slots >= 0]] = False
    assert (values.flatten(0, 1)[untouched] == 7).all()


def test_a_section_may_be_of_some_heads_only():
    keys, _ = a_cache(20, 4, 16, dtype=torch.bfloat16)
    assert_writes_alike(a_section(5, 20, 32), keys[:, :, 2:], some_slots(keys, 20), a_rotation(20, 16, neox=False))
    assert not keys[:, :, :2].any()


def test_a_section_without_planes_is_its_mean():
    keys, _ = a_cache(2, 1, 16)
    section = a_section(0, 2, 16)
    write_section(section, keys, torch.tensor([17, 3]))
    assert torch.equal(keys[1, 1, 0], section.mean)
    assert torch.equal(keys[0, 3, 0], section.mean)


def test_no_tokens_write_nothing():
    keys, _ = a_cache(0, 1, 16)
    write_section(a_section(3, 0, 16), keys, torch.zeros(0, dtype=torch.int64))
    assert not keys.any()


def test_exceptions_outside_the_section_are_left_out():
    keys, _ = a_cache(4, 1, 16)
    section = a_section(3, 4, 16)
    outside = replace(
        section,
        exception_planes=torch.tensor([3, -1, 0, 0, 2**40]),
        exception_tokens=torch.tensor([0, 0, 4, -1, 0]),
        exception_values=torch.full((5,), 1e9),
    )
    slots = torch.arange(4)
    expected = keys.clone()
    write_reference(section, expected, slots)
    write_section(outside, keys, slots)
    torch.testing.assert_close(keys, expected)


def test_arguments_that_do_not_fit_each_other_are_refused():
    keys, _ = a_cache(4, 1, 16)
    section, slots, rotation = a_section(3, 4, 16), torch.arange(4), a_rotation(4, 16, neox=True)
    for bad in (
        (section, keys[0], slots, None),
        (section, keys.to(torch.float8_e4m3fn), slots, None),
        (section, keys[..., :8], slots, None),
        (section, keys, slots[1:], None),
        (section, keys, slots.int(), None),
        (replace(section, mean=section.mean.double()), keys, slots, None),
        (replace(section, scales=section.scales[1:]), keys, slots, None),
        (replace(section, symbols=section.symbols.int()), keys, slots, None),
        (replace(section, exception_values=torch.ones(1)), keys, slots, None),
        (section, keys, slots, a_rotation(3, 16, neox=True)),
        (section, keys, slots, a_rotation(4, 18, neox=True)),
        (section, keys, slots, replace(rotation, sin=rotation.sin[:, 1:])),
        (a_section(3, 4, 15), torch.zeros(3, BLOCK_SIZE, 1, 15), slots, None),
    ):
        for write in (write_reference, write_section):
            with pytest.raises(BadShape):
                write(*bad)
    with pytest.raises(BadShape):
        write_section(replace(section, rows=section.rows.T.contiguous().T), keys, slots)


def own_writer(keys, values):
    """What an attention backend's own writer does."""

    def write(new_keys, new_values, slots):
        keys[slots // BLOCK_SIZE, slots % BLOCK_SIZE] = new_keys
        values[slots // BLOCK_SIZE, slots % BLOCK_SIZE] = new_values

    return write


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_self_test_is_content_with_every_layout_and_leaves_the_blocks_as_they_were(layout, dtype):
    keys, values = a_cache(64, 2, 32, layout, dtype)
    keys.normal_()
    before = keys.clone()
    writer = own_writer(keys, values)
    assert fused_matches(writer, keys, values, torch.tensor([5, 1]), rotary_dim=16, neox=False) is None
    assert torch.equal(keys, before)
    assert not values.any()


def test_the_self_test_says_how_far_off_another_layout_is():
    keys, values = a_cache(64, 2, 32)
    blocks = torch.tensor([2, 3])
    swapped = fused_matches(own_writer(values, keys), keys, values, blocks, rotary_dim=32, neox=True)
    assert swapped.startswith("The fused kernel's keys are off by ")

    def upside_down(new_keys, new_values, slots):
        own_writer(keys, values)(new_keys, new_values.flip(1), slots)

    assert "values are off" in fused_matches(upside_down, keys, values, blocks, rotary_dim=32, neox=True)


@pytest.mark.parametrize("turned", [0, 32])
def test_the_kernel_compiles_for_an_nvidia_gpu(compile_for_gpu, turned):
    pointers = ["*u8", "*fp32", "*fp32", "*fp32", "*i64", "*i64", "*fp32", "*bf16", "*bf16", "*i64", "*bf16"]
    constants = {"HEAD_DIM": 64, "TURNED": turned, "NEOX": True, "ZERO_SYMBOL": 128}
    constants |= {"TOKENS": 32, "PLANES": 16, "PAIRS": 32, "dim_stride": 1}
    compiled = compile_for_gpu("_write", pointers + ["i32"] * 4 + ["i64"] * 3, constants)
    assert compiled["cubin"]
    assert "tf32" not in compiled["ptx"]


def test_the_gpu_script_checks_both_kernels_with_torch_triton_and_numpy_alone():
    script = Path(__file__).parents[2] / "benchmarks" / "gpu_kernels.py"
    run = f"""
import runpy, sys
sys.modules.update(dict.fromkeys(["numba", "pydantic", "safetensors", "transformers", "vllm", "zstandard"]))
sys.argv = ["gpu_kernels.py", "--check"]
runpy.run_path({str(script)!r}, run_name="__main__")
"""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-c", run],
        env=environment | {"TRITON_INTERPRET": "1"},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["wrong"] == []
