"""From scores to positions: budgets are kept, whatever the option."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.lab.choosing import choose, moving


@st.composite
def problems(draw):
    size = draw(st.integers(1, 60))
    scores = torch.tensor(draw(st.lists(st.floats(0, 1, width=32), min_size=size, max_size=size)))
    allowed = torch.tensor(draw(st.lists(st.booleans(), min_size=size, max_size=size)))
    return scores, allowed, draw(st.integers(0, size + 3))


@given(problems(), st.integers(0, 4), st.sampled_from([1, 4, 8]), st.lists(st.integers(0, 5), max_size=4, unique=True))
def test_the_budget_is_kept_and_nothing_forbidden_is_chosen(problem, join, span, heads) -> None:
    scores, allowed, budget = problem
    chosen = choose(scores, allowed, budget, join=join, span=span, heads=[at for at in heads if at < len(scores)])
    assert len(chosen) <= budget
    assert bool(allowed[chosen].all())
    assert chosen.tolist() == sorted(set(chosen.tolist()))


@given(problems())
def test_plain_choice_takes_the_highest_and_spends_the_whole_budget(problem) -> None:
    scores, allowed, budget = problem
    chosen = choose(scores, allowed, budget)
    assert len(chosen) == min(budget, int(allowed.sum()))
    left = allowed.clone()
    left[chosen] = False
    if left.any() and len(chosen):
        assert scores[chosen].min() >= scores[left].max()


def test_chunk_heads_come_before_better_scores() -> None:
    scores = torch.tensor([0.0, 0.1, 0.9, 0.8])
    assert choose(scores, torch.ones(4, dtype=torch.bool), 2, heads=[0]).tolist() == [0, 2]


def test_joining_fills_small_gaps_and_counts_what_it_fills() -> None:
    scores = torch.tensor([0.9, 0.0, 0.8, 0.0, 0.0, 0.7])
    everything = torch.ones(6, dtype=torch.bool)
    assert choose(scores, everything, 3, join=1).tolist() == [0, 1, 2]
    assert choose(scores, everything, 3).tolist() == [0, 2, 5]
    assert choose(scores, everything, 6, join=2).tolist() == [0, 1, 2, 3, 4, 5]


def test_joining_never_crosses_what_is_forbidden() -> None:
    allowed = torch.tensor([True, False, True])
    assert choose(torch.ones(3), allowed, 3, join=2).tolist() == [0, 2]


def test_spans_are_chosen_whole_by_their_mean() -> None:
    scores = torch.tensor([0.9, 0.0, 0.0, 0.0, 0.5, 0.5, 0.5, 0.5])
    assert choose(scores, torch.ones(8, dtype=torch.bool), 4, span=4).tolist() == [4, 5, 6, 7]


def test_a_moving_window_shares_a_score_with_its_neighbours() -> None:
    scores = torch.tensor([0.0, 0.0, 3.0, 0.0, 0.0])
    assert moving(scores, 3, maximum=False).tolist() == [0.0, 1.0, 1.0, 1.0, 0.0]
    assert moving(scores, 3, maximum=True).tolist() == [0.0, 3.0, 3.0, 3.0, 0.0]
    assert moving(scores, 1, maximum=True) is scores
