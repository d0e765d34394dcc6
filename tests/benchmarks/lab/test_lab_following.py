"""The rest of a chunk follows within the forward: what was off alike comes back right, values by the part asked for."""

import pytest
import torch
from lab_model import tiny_exact, tiny_model

from benchmarks.lab.following import FollowingCache


@pytest.mark.parametrize("part", [0.0, 1.0])
def test_values_that_are_off_alike_come_back_by_the_part_that_follows(part: float) -> None:
    model = tiny_model()
    exact = tiny_exact(model)
    segment = exact.chunk_segments[1]
    base = exact.cache.copy()
    base.values[:, :, segment.start : segment.end] += 0.7
    cache = FollowingCache(model, base, [segment], part)
    fresh = torch.arange(segment.start, segment.end - 1)
    model.forward(cache, exact.ids[fresh], fresh)
    off = (cache.values - exact.cache.values)[:, :, segment.end - 1]
    left = 0.7 * (1 - part * len(fresh) / (len(fresh) + 2))
    torch.testing.assert_close(off, torch.full_like(off, left), atol=1e-3, rtol=1e-3)
    torch.testing.assert_close(cache.keys, exact.cache.keys, atol=1e-4, rtol=1e-4)


def test_a_chunk_without_fresh_tokens_stays_as_it_is() -> None:
    model = tiny_model()
    exact = tiny_exact(model)
    first, second = exact.chunk_segments[1:3]
    base = exact.cache.copy()
    base.values[:, :, second.start : second.end] += 1
    cache = FollowingCache(model, base, [first, second], 1.0)
    fresh = torch.arange(first.start, first.start + 2)
    model.forward(cache, exact.ids[fresh], fresh)
    assert torch.equal(cache.values[:, :, second.start : second.end], base.values[:, :, second.start : second.end])
