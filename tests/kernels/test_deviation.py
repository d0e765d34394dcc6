import pytest
import torch

from kernels.deviation import kv_deviation
from kernels.errors import BadShape


def test_the_token_that_moved_most_deviates_most_and_one_that_did_not_deviates_by_nothing() -> None:
    keys, values = torch.ones(3, 2, 4), torch.ones(3, 2, 4)
    old_keys, old_values = keys.clone(), values.clone()
    old_keys[1] += 1
    old_values[2] += 2
    assert kv_deviation(keys, values, old_keys, old_values).tolist() == [0, 1, 4]


def test_scale_does_not_matter() -> None:
    generator = torch.Generator().manual_seed(0)
    new, old = torch.randn(2, 9, 2, 4, generator=generator), torch.randn(2, 9, 2, 4, generator=generator)
    scaled = kv_deviation(100 * new[0], new[1], 100 * old[0], old[1])
    assert torch.allclose(scaled, kv_deviation(*new, *old), rtol=1e-4)


def test_shapes_must_be_equal() -> None:
    with pytest.raises(BadShape):
        kv_deviation(*(torch.zeros(3, 2, 4),) * 3, torch.zeros(4, 2, 4))
