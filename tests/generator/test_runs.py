import torch
from hypothesis import given
from hypothesis import strategies as st

from generator.runs import cut_runs, slices

SETS = st.sets(st.integers(0, 400), min_size=1, max_size=120)


@given(SETS)
def test_runs_cover_the_positions_and_each_is_contiguous(chosen: set[int]) -> None:
    positions = torch.tensor(sorted(chosen))
    runs = cut_runs(positions, torch.zeros_like(positions))
    for r in range(runs.count):
        run = positions[runs.starts[r] : runs.starts[r + 1]].tolist()
        assert run == list(range(run[0], run[0] + len(run)))
        assert runs.lengths[r] == run[-1] + 1
        assert run[-1] + 1 not in chosen
    assert runs.starts[0] == 0
    assert runs.starts[-1] == len(positions)


@given(SETS, st.integers(1, 50), st.integers(1, 10))
def test_slices_keep_order_and_both_limits(chosen: set[int], max_tokens: int, max_runs: int) -> None:
    positions = torch.tensor(sorted(chosen))
    cut = list(slices([positions], max_tokens, max_runs))
    assert torch.equal(torch.cat([runs.positions for runs in cut]), positions)
    assert all(len(runs.positions) <= max_tokens and runs.count <= max_runs for runs in cut)


def test_no_positions_need_no_forward() -> None:
    assert list(slices([torch.tensor([], dtype=torch.int64)], 10, 10)) == []
    assert list(slices([], 10, 10)) == []


@given(st.lists(SETS, min_size=1, max_size=4), st.integers(1, 50), st.integers(1, 10))
def test_runs_of_several_requests_never_join(chosen: list[set[int]], max_tokens: int, max_runs: int) -> None:
    wanted = [torch.tensor(sorted(each)) for each in chosen]
    cut = list(slices(wanted, max_tokens, max_runs))
    for owner, positions in enumerate(wanted):
        own = [runs.positions[runs.token_owners == owner] for runs in cut]
        assert torch.equal(torch.cat(own), positions)
    for runs in cut:
        lengths = runs.positions[runs.starts[1:].long() - 1] + 1
        assert torch.equal(lengths, runs.lengths.long())


@given(st.lists(SETS, min_size=1, max_size=4), st.integers(1, 50), st.integers(1, 10))
def test_where_a_request_is_cut_depends_on_nothing_but_itself(
    chosen: list[set[int]], max_tokens: int, max_runs: int
) -> None:
    wanted = [torch.tensor(sorted(each)) for each in chosen]
    together = list(slices(wanted, max_tokens, max_runs))
    for owner, positions in enumerate(wanted):
        own = [runs.positions[runs.token_owners == owner].tolist() for runs in together]
        alone = [runs.positions.tolist() for runs in slices([positions], max_tokens, max_runs)]
        assert [part for part in own if part] == alone
