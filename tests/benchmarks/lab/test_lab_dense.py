"""The dense model: any rows over any mixture, exact when all are fresh, blind to the future."""

import pytest
import torch
from lab_model import KINDS, random_model, tiny_exact, tiny_model

from benchmarks.lab.dense import DenseModel, Watch
from benchmarks.lab.exact import ExactRun, ask, forced
from benchmarks.lab.fusing import Fusing
from benchmarks.lab.metrics import closeness
from benchmarks.lab.reading import place, prefix_of, read, take
from benchmarks.lab.scores import attention
from benchmarks.lab.variant import parse_variant


@pytest.fixture(scope="module")
def model() -> DenseModel:
    return tiny_model()


@pytest.fixture(scope="module")
def exact(model: DenseModel) -> ExactRun:
    return tiny_exact(model)


def garbage(exact: ExactRun) -> Fusing:
    """A base whose reused chunks hold noise."""
    model, base = tiny_model(), exact.cache.copy()
    reused = exact.reused.nonzero()[:, 0]
    torch.manual_seed(2)
    base.keys[:, :, reused] = torch.randn_like(base.keys[:, :, reused])
    base.values[:, :, reused] = torch.randn_like(base.values[:, :, reused])
    return Fusing(model, exact, base)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_dense_model_computes_what_the_library_computes(kind: str) -> None:
    ids = torch.arange(3, 83)
    with torch.inference_mode():
        wanted = random_model(kind)(ids[None]).logits[0]
    ours = DenseModel(random_model(kind))
    hidden = ours.forward(ours.empty_cache(80), ids, torch.arange(80))
    assert hidden is not None
    torch.testing.assert_close(ours.log_probabilities(hidden), wanted.log_softmax(-1), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_keys_are_unrotated_and_rotated_back_for_every_rotary_embedding(kind: str) -> None:
    model = DenseModel(random_model(kind))
    cache = model.empty_cache(60)
    model.forward(cache, torch.arange(3, 63), torch.arange(60))
    moved = cache.copy()
    slots = torch.arange(20, 60)
    place(model, moved, take(model, cache, slots, slots), 20)
    torch.testing.assert_close(moved.keys, cache.keys, atol=2e-5, rtol=1e-5)


def test_recomputing_every_position_over_garbage_equals_full_prefill(exact: ExactRun) -> None:
    fused = garbage(exact)(parse_variant("alone:everything"))
    end = exact.context
    torch.testing.assert_close(fused.cache.keys[:, :, :end], exact.cache.keys[:, :, :end], atol=2e-5, rtol=1e-5)
    torch.testing.assert_close(fused.cache.values[:, :, :end], exact.cache.values[:, :, :end], atol=2e-5, rtol=1e-5)
    found = closeness(exact.log_probabilities, forced(tiny_model(), exact, fused.cache))
    assert found.kl_first < 1e-8
    assert found.kl_mean < 1e-8


@pytest.mark.parametrize("selector", ["impact", "hkvd", "hkvdkv", "true", "impactv", "impact*true", "random"])
def test_every_selection_with_the_whole_amount_is_exact(exact: ExactRun, selector: str) -> None:
    fused = garbage(exact)(parse_variant(f"alone:{selector}@1"))
    found = closeness(exact.log_probabilities, forced(tiny_model(), exact, fused.cache))
    assert found.kl_mean < 1e-8


def test_a_whole_amount_in_two_stages_is_not_exact_but_keeps_the_budget(exact: ExactRun) -> None:
    fused = garbage(exact)(parse_variant("alone:impact@.2+stages=2"))
    assert fused.fresh == (round(0.2 * exact.context) + len(exact.numbers)) / exact.context


def test_rows_over_the_exact_context_change_nothing(model: DenseModel, exact: ExactRun) -> None:
    cache = exact.cache.copy()
    rows = torch.tensor([7, 9, 28, 33, 34, 61])
    model.forward(cache, exact.ids[rows], rows)
    torch.testing.assert_close(cache.keys, exact.cache.keys, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(cache.values, exact.cache.values, atol=1e-5, rtol=1e-5)


def rows_with_another_future(model: DenseModel, exact: ExactRun, rows: torch.Tensor, limits=None) -> bool:
    """Whether rows come out differently when everything behind the last of them is replaced by noise."""
    caches = [exact.cache.copy() for _ in range(2)]
    after = int(rows[-1]) + 1
    caches[1].keys[:, :, after:] += 1
    caches[1].values[:, :, after:] += 1
    for cache in caches:
        model.forward(cache, exact.ids[rows], rows, limits=limits)
    return not torch.equal(caches[0].values[:, :, rows], caches[1].values[:, :, rows])


def test_scattered_rows_never_see_the_future(model: DenseModel, exact: ExactRun) -> None:
    assert not rows_with_another_future(model, exact, torch.tensor([8, 12, 30, 31]))


def test_the_bottom_right_mask_of_the_released_cacheblend_does_see_it(model: DenseModel, exact: ExactRun) -> None:
    rows = torch.tensor([8, 12, 30, 31])
    last = torch.arange(exact.context - len(rows), exact.context)
    assert rows_with_another_future(model, exact, rows, [rows, *[last] * (model.layers - 1)])


def test_cacheblend_as_released_spoils_even_a_perfect_cache(exact: ExactRun) -> None:
    """Over exact keys and values a causal recompute changes nothing; the released mask does."""
    model = tiny_model()
    fusing = Fusing(model, exact, exact.cache.copy())
    causal = closeness(exact.log_probabilities, forced(model, exact, fusing(parse_variant("alone:hkvd@.3")).cache))
    released = fusing(parse_variant("alone:cacheblend-released@.3"))
    assert causal.kl_mean < 1e-8
    assert closeness(exact.log_probabilities, forced(model, exact, released.cache)).kl_mean > 1e-4


def test_what_is_not_recomputed_keeps_its_old_values_and_none_shares_the_base(exact: ExactRun) -> None:
    fusing = garbage(exact)
    base = fusing(parse_variant("alone:none"))
    head = fusing(parse_variant("alone:head@3"))
    untouched = [at for start in (28, 50) for at in range(start + 3, start + 20)]
    assert base.fresh == 0
    assert torch.equal(head.cache.keys[:, :, untouched], base.cache.keys[:, :, untouched])
    assert not torch.equal(head.cache.keys[:, :, 28:31], base.cache.keys[:, :, 28:31])


def test_a_chunk_read_where_it_stands_and_placed_there_is_unchanged(model: DenseModel, exact: ExactRun) -> None:
    slots = torch.arange(28, 48)
    cache = exact.cache.copy()
    place(model, cache, take(model, exact.cache, slots, slots), 28)
    torch.testing.assert_close(cache.keys, exact.cache.keys, atol=1e-5, rtol=1e-5)
    assert torch.equal(cache.values, exact.cache.values)


def test_a_chunk_read_behind_all_that_precedes_it_is_exact_anywhere(model: DenseModel, exact: ExactRun) -> None:
    piece = read(model, prefix_of(model, exact.ids[:28].tolist()), exact.ids[28:48].tolist())
    slots = torch.arange(28, 48)
    wanted = take(model, exact.cache, slots, slots)
    torch.testing.assert_close(piece.keys, wanted.keys, atol=2e-5, rtol=1e-5)
    torch.testing.assert_close(piece.values, wanted.values, atol=2e-5, rtol=1e-5)


def test_attention_shares_agree_with_a_plain_softmax(model: DenseModel, exact: ExactRun) -> None:
    watch: Watch = ask(model, exact, exact.cache.copy())
    shares = attention(watch.queries[2], exact.cache.keys[2], exact.context)
    row, head, kv_head = 3, 3, 1
    keys = exact.cache.keys[2, kv_head, : exact.context + row + 1]
    wanted = (keys @ watch.queries[2][head, row] / model.head_dim**0.5).softmax(0)[: exact.context]
    torch.testing.assert_close(shares[head, row], wanted)
