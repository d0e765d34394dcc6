import pytest
import torch

from kernels.drift import drift, summed_changes
from kernels.errors import BadShape


def test_changes_are_added_up_chunk_by_chunk() -> None:
    fresh = torch.tensor([1.0, 2.0, 4.0, 8.0])[:, None, None].expand(4, 2, 3)
    sums = summed_changes(fresh, torch.ones(4, 2, 3, dtype=torch.bfloat16), torch.tensor([2, 0, 2, 0]), 3)
    assert sums.dtype is torch.float32
    assert sums[:, 0, 0].tolist() == [8, 0, 3]
    assert torch.equal(sums, sums[:, :1, :1].expand(3, 2, 3))


def test_many_tokens_move_a_chunk_by_their_mean_and_none_do_not_move_it() -> None:
    tokens = torch.tensor([0.0, 1.0, 998.0])
    sums = tokens[:, None, None].expand(3, 1, 1) * 5.0
    moved = drift(sums, tokens, doubt=2.0)[:, 0, 0]
    assert moved.tolist() == pytest.approx([0, 5 / 3, 5 * 0.998])


@pytest.mark.parametrize(("cached", "chunks"), [((4, 2, 2), 4), ((3, 2, 3), 4), ((4, 2, 3), 3)])
def test_shapes_must_fit(cached: tuple[int, ...], chunks: int) -> None:
    with pytest.raises(BadShape):
        summed_changes(torch.zeros(4, 2, 3), torch.zeros(cached), torch.zeros(chunks, dtype=torch.int64), 1)
