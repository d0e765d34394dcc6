"""Ranks: the engine's tensor-parallel worker processes, and what they must agree about.

Each holds a share of every layer's heads and runs the same code on the same steps. Whatever they could see differently
(the store, their memory, scores over their own heads) goes through here before anyone acts on it.
"""

from collections.abc import Sequence

import torch
import torch.distributed as dist
from torch import Tensor
from vllm.distributed import get_tp_group


class Ranks:
    """This process among the ranks of `group`, over which tensors on the CPU can be sent; None: it is alone.

    All ranks make the same calls in the same order, from the thread that runs the model. Alone, nothing is sent.
    """

    def __init__(self, group: dist.ProcessGroup | None = None) -> None:
        self._group = group
        self.size = 1 if group is None else group.size()
        self.rank = 0 if group is None else group.rank()

    @classmethod
    def of_engine(cls) -> "Ranks":
        """The ranks among which vLLM has split the model."""
        tensor_parallel = get_tp_group()
        return cls(tensor_parallel.cpu_group if tensor_parallel.world_size > 1 else None)

    @property
    def leads(self) -> bool:
        """Whether this is rank 0, which speaks for all."""
        return self.rank == 0

    def heads(self, total: int) -> slice:
        """Which of a layer's `total` KV heads this rank holds. More ranks than heads: neighbours hold the same."""
        first = self.rank * total // self.size
        return slice(first, first + max(total // self.size, 1))

    def sum(self, scores: Tensor) -> Tensor:
        """The ranks' `scores`, of one shape, added in float32: the same bits on every rank."""
        if self._group is None:
            return scores.to(torch.float32)
        mine = scores.to("cpu", torch.float32).contiguous()
        parts = [torch.empty_like(mine) for _ in range(self.size)]
        dist.all_gather(parts, mine, group=self._group)
        return torch.stack(parts).sum(dim=0).to(scores.device)

    def highest(self, codes: Sequence[int]) -> list[int]:
        """For each place the highest code that any rank has there."""
        if self._group is None or not codes:
            return list(codes)
        highest = torch.tensor(codes, dtype=torch.int64)
        dist.all_reduce(highest, dist.ReduceOp.MAX, group=self._group)
        return [int(code) for code in highest]

    def agree(self, found: Sequence[bool]) -> list[bool]:
        """For each place whether every rank found something there."""
        return [not lacking for lacking in self.highest([not each for each in found])]

    def any_reason(self, reason: str | None) -> str | None:
        """The first rank's reason that has one; None when none has."""
        if self._group is None:
            return reason
        reasons: list[str | None] = [None] * self.size
        dist.all_gather_object(reasons, reason, group=self._group)
        return next((each for each in reasons if each), None)

    def join_heads(self, share: Tensor, total: int) -> Tensor:
        """(tokens, `total` KV heads, head_dim) out of every rank's share on the CPU.

        Only rank 0 gets that; the others get their share back.
        """
        if self._group is None:
            return share
        share = share.contiguous()
        # As bytes, since not every build of Gloo can send every float type.
        raw = share.view(torch.uint8)
        parts = [torch.empty_like(raw) for _ in range(self.size)] if self.leads else None
        dist.gather(raw, parts, group=self._group, group_dst=0)
        if parts is None:
            return share
        copies = max(self.size // total, 1)
        return torch.cat(parts[::copies], dim=1).view(share.dtype)
