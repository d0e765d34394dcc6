import pytest
import torch

from kernels.errors import BadShape
from kernels.impact import attention_impact


def test_it_is_attention_summed_over_queries_and_heads() -> None:
    generator = torch.Generator().manual_seed(0)
    queries = torch.randn(5, 6, 8, generator=generator)
    keys = torch.randn(30, 2, 8, generator=generator)
    shared = keys.repeat_interleave(3, dim=1)
    weights = (torch.einsum("qhd,thd->hqt", queries, shared) * 0.3).softmax(dim=-1)
    impact = attention_impact(queries, keys, 0.3)
    assert torch.allclose(impact, weights.sum(dim=(0, 1)), atol=1e-5)
    assert float(impact.sum()) == pytest.approx(30, abs=1e-3)


def test_no_query_has_no_impact_and_no_key_gets_none() -> None:
    assert attention_impact(torch.zeros(0, 4, 8), torch.ones(3, 2, 8), 1.0).tolist() == [0, 0, 0]
    assert attention_impact(torch.zeros(2, 4, 8), torch.ones(0, 2, 8), 1.0).tolist() == []


@pytest.mark.parametrize("keys", [(3, 3, 8), (3, 2, 7), (3, 8)])
def test_heads_and_sizes_must_fit(keys: tuple[int, ...]) -> None:
    with pytest.raises(BadShape):
        attention_impact(torch.zeros(2, 4, 8), torch.zeros(keys), 1.0)
