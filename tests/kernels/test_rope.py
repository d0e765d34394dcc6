"""Keys can be rotated to any position and back."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from kernels.errors import BadShape
from kernels.rope import rotate_keys, unrotate_keys

POSITIONS = st.lists(st.integers(0, 131_072), min_size=1, max_size=5)
ROTARY_AND_HEAD_DIM = st.sampled_from([(64, 64), (32, 64), (2, 8), (128, 128), (80, 96)])
MAGNITUDES = st.sampled_from([1.0, 0.5, 1.3466, 2.0])
TABLE_DTYPES = st.sampled_from([torch.float32, torch.bfloat16, torch.float16])


def tables(positions, rotary_dim, magnitude=1.0, dtype=torch.float32):
    frequencies = 10_000.0 ** -(torch.arange(0, rotary_dim, 2, dtype=torch.float64) / rotary_dim)
    angles = torch.tensor(positions, dtype=torch.float64)[:, None] * frequencies
    return (angles.cos() * magnitude).to(dtype), (angles.sin() * magnitude).to(dtype)


def random_keys(tokens, head_dim, dtype=torch.float32):
    return torch.randn(tokens, 3, head_dim, generator=torch.Generator().manual_seed(tokens)).to(dtype)


def rotate_by_complex_numbers(keys, cos, sin, neox, rotary_dim):
    rotated = keys.to(torch.float64).clone()
    for pair in range(rotary_dim // 2):
        a, b = (pair, pair + rotary_dim // 2) if neox else (2 * pair, 2 * pair + 1)
        turn = torch.complex(cos[:, pair].double(), sin[:, pair].double())[:, None]
        product = torch.complex(keys[..., a].double(), keys[..., b].double()) * turn
        rotated[..., a], rotated[..., b] = product.real, product.imag
    return rotated


@given(POSITIONS, ROTARY_AND_HEAD_DIM, MAGNITUDES, TABLE_DTYPES, st.booleans())
def test_rotation_multiplies_each_pair_by_a_complex_number(positions, dims, magnitude, dtype, neox):
    rotary_dim, head_dim = dims
    keys = random_keys(len(positions), head_dim)
    cos, sin = tables(positions, rotary_dim, magnitude, dtype)
    rotated = rotate_keys(keys, cos, sin, neox=neox, rotary_dim=rotary_dim)
    expected = rotate_by_complex_numbers(keys, cos, sin, neox, rotary_dim)
    torch.testing.assert_close(rotated.double(), expected, rtol=0, atol=1e-5)


@given(POSITIONS, ROTARY_AND_HEAD_DIM, MAGNITUDES, TABLE_DTYPES, st.booleans())
def test_unrotating_undoes_rotating_at_every_position(positions, dims, magnitude, dtype, neox):
    rotary_dim, head_dim = dims
    keys = random_keys(len(positions), head_dim)
    cos, sin = tables(positions, rotary_dim, magnitude, dtype)
    rotated = rotate_keys(keys, cos, sin, neox=neox, rotary_dim=rotary_dim)
    restored = unrotate_keys(rotated, cos, sin, neox=neox, rotary_dim=rotary_dim)
    torch.testing.assert_close(restored, keys, rtol=0, atol=5e-6)


@pytest.mark.parametrize("neox", [True, False])
def test_every_position_up_to_131072_comes_back(neox):
    for start in range(0, 131_073, 16_384):
        positions = range(start, min(start + 16_384, 131_073))
        keys = torch.randn(len(positions), 1, 16, generator=torch.Generator().manual_seed(start))
        cos, sin = tables(positions, 16, 1.3466, torch.bfloat16)
        rotated = rotate_keys(keys, cos, sin, neox=neox, rotary_dim=16)
        restored = unrotate_keys(rotated, cos, sin, neox=neox, rotary_dim=16)
        torch.testing.assert_close(restored, keys, rtol=0, atol=5e-6)


@pytest.mark.parametrize("neox", [True, False])
def test_scores_depend_on_the_distance_alone(neox):
    query, key = random_keys(2, 64)[:1], random_keys(2, 64)[1:]

    def score(query_at, key_at):
        cos_q, sin_q = tables([query_at], 64)
        cos_k, sin_k = tables([key_at], 64)
        turned_query = rotate_keys(query, cos_q, sin_q, neox=neox, rotary_dim=64)
        turned_key = rotate_keys(key, cos_k, sin_k, neox=neox, rotary_dim=64)
        return (turned_query * turned_key).sum(-1)

    torch.testing.assert_close(score(1000, 990), score(30, 20), rtol=1e-4, atol=1e-4)


def test_dimensions_beyond_rotary_dim_pass_through():
    keys = random_keys(4, 64)
    cos, sin = tables([5, 6, 7, 8], 16)
    assert torch.equal(rotate_keys(keys, cos, sin, neox=True, rotary_dim=16)[..., 16:], keys[..., 16:])


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_the_result_is_float32_and_the_keys_stay_as_they_were(dtype):
    keys = random_keys(2, 8, dtype)
    before = keys.clone()
    cos, sin = tables([3, 4], 8)
    assert rotate_keys(keys, cos, sin, neox=True, rotary_dim=8).dtype == torch.float32
    assert unrotate_keys(keys, cos, sin, neox=True, rotary_dim=8).dtype == torch.float32
    assert torch.equal(keys, before)


@pytest.mark.parametrize("turn", [rotate_keys, unrotate_keys])
@pytest.mark.parametrize(
    ("keys_shape", "table_shape", "rotary_dim"),
    [
        ((2, 3, 8), (3, 4), 8),
        ((2, 3, 8), (2, 8), 8),
        ((2, 8), (2, 4), 8),
        ((2, 3, 8), (2, 5), 10),
        ((2, 3, 8), (2, 1), 3),
    ],
)
def test_shapes_that_do_not_fit_are_refused(turn, keys_shape, table_shape, rotary_dim):
    table = torch.ones(table_shape)
    with pytest.raises(BadShape):
        turn(torch.ones(keys_shape), table, table, neox=True, rotary_dim=rotary_dim)


def test_integer_keys_are_refused():
    table = torch.ones(2, 4)
    with pytest.raises(BadShape):
        rotate_keys(torch.ones(2, 3, 8, dtype=torch.int32), table, table, neox=True, rotary_dim=8)
