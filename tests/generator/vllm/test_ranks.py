"""Ranks agree about everything they could see differently; one rank alone sends nothing."""

from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as multiprocessing

from generator.vllm.ranks import Ranks


def test_alone_everything_is_as_it_was() -> None:
    ranks = Ranks()
    scores, share = torch.rand(5), torch.rand(3, 2, 4)
    assert (ranks.size, ranks.rank, ranks.leads) == (1, 0, True)
    assert torch.equal(ranks.sum(scores), scores)
    assert ranks.sum(scores.to(torch.bfloat16)).dtype == torch.float32
    assert ranks.agree([True, False]) == [True, False]
    assert ranks.highest([3, 0]) == [3, 0]
    assert ranks.any_reason(None) is None
    assert ranks.any_reason("too old") == "too old"
    assert ranks.join_heads(share, 2) is share
    assert ranks.heads(2) == slice(0, 2)


def _one_of_two(rank: int, meeting_point: str) -> None:
    """What each of two processes checks; a failed assertion fails the test."""
    dist.init_process_group("gloo", init_method=f"file://{meeting_point}", rank=rank, world_size=2)
    ranks = Ranks(dist.group.WORLD)
    assert (ranks.size, ranks.rank, ranks.leads) == (2, rank, rank == 0)

    assert torch.equal(ranks.sum(torch.full((3,), rank + 1, dtype=torch.bfloat16)), torch.full((3,), 3.0))
    noise = torch.randn(999, generator=torch.Generator().manual_seed(rank))
    total = ranks.sum(noise)
    assert torch.equal(ranks.sum(total * (1 - rank)), total), "the ranks hold different sums"

    # Found by both, by rank 0 alone, by rank 1 alone, by neither.
    assert ranks.agree([True, rank == 0, rank == 1, False]) == [True, False, False, False]
    assert ranks.agree([]) == []
    assert ranks.highest([rank, 5 - rank]) == [1, 5]
    assert ranks.any_reason(None) is None
    assert ranks.any_reason("no pages" if rank == 1 else None) == "no pages"

    for dtype in (torch.float32, torch.bfloat16, torch.float16):
        whole = torch.randn(7, 4, 8, generator=torch.Generator().manual_seed(0)).to(dtype)
        share = whole[:, ranks.heads(4)]
        assert torch.equal(ranks.join_heads(share, 4), whole if ranks.leads else share)
        assert torch.equal(ranks.join_heads(whole[:, :1], 1), whole[:, :1]), "both hold the only head"
    dist.destroy_process_group()


def test_two_ranks_come_to_the_same_result(tmp_path: Path) -> None:
    multiprocessing.spawn(_one_of_two, (str(tmp_path / "meeting-point"),), nprocs=2)


def test_heads_are_shared_out_whole_and_held_twice_where_there_are_too_few() -> None:
    def shares(size: int, total: int) -> list[slice]:
        ranks = Ranks()
        ranks.size = size
        held = []
        for ranks.rank in range(size):
            held.append(ranks.heads(total))
        return held

    assert shares(2, 8) == [slice(0, 4), slice(4, 8)]
    assert shares(4, 2) == [slice(0, 1), slice(0, 1), slice(1, 2), slice(1, 2)]
    assert shares(2, 1) == [slice(0, 1), slice(0, 1)]
