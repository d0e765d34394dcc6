"""Symbols become the values that docs/codec.md defines, whatever the section looks like."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.errors import BadShape, BadStream
from kernels.synthesis import Synthesis, synthesise

NO_EXCEPTIONS = np.empty((0, 3), np.int32)


def make_synthesis(rng, planes_of_heads, dim, group):
    planes = sum(planes_of_heads)
    return Synthesis(
        planes=np.zeros(planes, np.uint8),
        rows=rng.normal(size=(planes, dim)).astype(np.float32),
        heads=np.cumsum([0, *planes_of_heads]),
        mean=rng.normal(size=len(planes_of_heads) * dim).astype(np.float32),
        anchored=rng.integers(0, 2, planes).astype(bool),
        group=group,
    )


def plain_values(symbols, gains, exceptions, synthesis):
    """The same by float64 matrix products."""
    numbers = symbols.astype(np.float64) - 128
    for plane, token, number in exceptions:
        numbers[plane, token] = number
    numbers /= gains
    if synthesis.group:
        for token in range(numbers.shape[1]):
            if token % synthesis.group:
                anchors = numbers[synthesis.anchored, token - token % synthesis.group]
                numbers[synthesis.anchored, token] += anchors
    parts = [
        numbers[first:end].T @ synthesis.rows[first:end].astype(np.float64)
        for first, end in zip(synthesis.heads, synthesis.heads[1:], strict=False)
    ]
    return np.concatenate(parts, 1) + synthesis.mean


@settings(max_examples=80, deadline=None)
@given(
    st.integers(1, 256),
    st.lists(st.integers(0, 13), min_size=1, max_size=4),
    st.sampled_from([4, 12, 64]),
    st.sampled_from([0, 4, 10]),
    st.integers(0, 9),
    st.integers(0, 10**6),
)
def test_values_agree_with_matrix_products(tokens, planes_of_heads, dim, group, n_exceptions, seed):
    rng = np.random.default_rng(seed)
    synthesis = make_synthesis(rng, planes_of_heads, dim, group)
    symbols = rng.integers(0, 256, (len(synthesis.planes), tokens)).astype(np.uint8)
    gains = np.exp2(rng.integers(0, 4, tokens)).astype(np.float32)
    places = rng.permutation(symbols.size)[:n_exceptions]
    exceptions = np.stack([*np.divmod(places, tokens), rng.integers(-(10**6), 10**6, len(places))], 1).astype(np.int32)

    values = synthesise(symbols, 1 / gains, exceptions, synthesis)

    expected = plain_values(symbols, gains, exceptions, synthesis)
    assert np.abs(values - expected).max() <= 1e-5 * max(np.abs(expected).max(), 100)


@pytest.mark.parametrize("place", [(-1, 0), (3, 0), (0, -1), (0, 5)])
def test_an_exception_without_a_place_is_refused(place):
    synthesis = make_synthesis(np.random.default_rng(0), [3], 4, 0)
    exceptions = np.array([[*place, 7]], np.int32)
    with pytest.raises(BadStream, match="exception"):
        synthesise(np.zeros((3, 5), np.uint8), np.ones(5, np.float32), exceptions, synthesis)


def test_symbols_of_another_shape_are_refused():
    synthesis = make_synthesis(np.random.default_rng(0), [3], 4, 0)
    for shape in ((2, 5), (3, 4)):
        with pytest.raises(BadShape):
            synthesise(np.zeros(shape, np.uint8), np.ones(5, np.float32), NO_EXCEPTIONS, synthesis)


@pytest.mark.parametrize(
    "wrong",
    [
        {"rows": np.zeros((3, 6), np.float32)},
        {"mean": np.zeros(8, np.float32)},
        {"planes": np.zeros(2, np.uint8)},
        {"anchored": np.zeros(4, bool)},
        {"heads": np.array([0, 2])},
        {"heads": np.array([1, 3])},
        {"heads": np.array([0, 4, 3]), "mean": np.zeros(8, np.float32)},
    ],
)
def test_a_synthesis_whose_parts_do_not_fit_is_refused(wrong):
    whole = make_synthesis(np.random.default_rng(0), [3], 4, 0)
    with pytest.raises(BadShape):
        replace(whole, **wrong)
