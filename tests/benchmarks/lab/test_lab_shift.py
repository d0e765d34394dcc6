"""Mean-shift correction: exact where a whole chunk moved alike, and never on fresh tokens or exact chunks."""

import torch
from lab_model import tiny_exact, tiny_model

from benchmarks.lab.shift import shift_rest


def test_a_chunk_that_moved_as_a_whole_is_put_back_from_a_few_fresh_tokens() -> None:
    model = tiny_model()
    exact = tiny_exact(model)
    base, cache = exact.cache.copy(), exact.cache.copy()
    base.values[:, :, 28:48] += 0.7
    cache.values[:, :, 28:48] += 0.7
    fresh = torch.tensor([29, 40])
    cache.values[:, :, fresh] = exact.cache.values[:, :, fresh]
    shift_rest(model, exact, base, cache, fresh)
    torch.testing.assert_close(cache.values, exact.cache.values, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(cache.keys, exact.cache.keys, atol=1e-5, rtol=1e-5)


def test_chunks_without_fresh_tokens_stay_as_they_are() -> None:
    model = tiny_model()
    exact = tiny_exact(model)
    base, cache = exact.cache.copy(), exact.cache.copy()
    cache.values[:, :, 29] += 1
    shift_rest(model, exact, base, cache, torch.tensor([29]))
    torch.testing.assert_close(cache.values[:, :, 30], exact.cache.values[:, :, 30] + 1)
    assert torch.equal(cache.values[:, :, 50:70], exact.cache.values[:, :, 50:70])
    assert torch.equal(cache.values[:, :, :28], exact.cache.values[:, :, :28])
