"""Where a reading is wrong: nowhere when it is exact, and by distance from the chunk's start otherwise."""

import torch
from lab_model import tiny_exact, tiny_model

from benchmarks.lab.places import mean_places, places


def test_an_exact_context_has_not_moved_anywhere() -> None:
    model = tiny_model()
    exact = tiny_exact(model)
    found = places(model, exact, exact.cache.copy())
    assert [place.start for place in found] == [-1, 0, 1, 4, 16, 64]
    assert [place.tokens for place in found] == [4, 2, 6, 24, 8, 0]
    assert all(place.moved_keys == place.moved_values == 0 for place in found)
    assert all(place.seen_exact == place.seen_reused for place in found)


def test_a_token_that_moved_shows_in_its_place_alone() -> None:
    model = tiny_model()
    exact = tiny_exact(model)
    base = exact.cache.copy()
    base.values[:, :, 28] = 0
    moved = {place.start: place.moved_values for place in places(model, exact, base)}
    assert moved[0] > 0.1
    assert moved[-1] == moved[1] == moved[4] == moved[16] == 0


def test_means_are_over_questions() -> None:
    model = tiny_model()
    exact = tiny_exact(model)
    base = exact.cache.copy()
    base.values[:, :, 28] = 0
    one, other = places(model, exact, exact.cache.copy()), places(model, exact, base)
    mean = mean_places([one, other])
    torch.testing.assert_close(mean[1].moved_values, other[1].moved_values / 2)
    assert mean[1].tokens == 2
