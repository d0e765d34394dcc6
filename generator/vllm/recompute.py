"""Recompute: positions of several requests as one ordinary forward of the model over runs."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from vllm.forward_context import set_forward_context
from vllm.v1.attention.backend import CommonAttentionMetadata

from generator.runs import Runs, slices
from generator.vllm.pages import slots_of

if TYPE_CHECKING:
    from vllm.config import VllmConfig
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner


@dataclass(frozen=True)
class Job:
    """Make `positions` (tokens,), ascending, of the prompt `token_ids` fresh in the pages of `block_ids`."""

    token_ids: Sequence[int]
    block_ids: Sequence[int]
    positions: Tensor


class Recompute:
    """Runs the engine's own model. In every layer the backend writes a run's fresh keys and values over the old ones
    and attends causally over the mixture."""

    def __init__(self, runner: "GPUModelRunner", config: "VllmConfig", block_size: int) -> None:
        self._runner = runner
        self._config = config
        self._block_size = block_size
        self._max_tokens = config.scheduler_config.max_num_batched_tokens
        self._max_runs = config.scheduler_config.max_num_seqs

    def __call__(self, jobs: Sequence[Job], around: Callable[[Runs], AbstractContextManager[None]]) -> None:
        """Jobs share forwards; more tokens than the engine takes in a step go in slices. `around`: what each forward
        goes in."""
        for runs in self.slices(jobs):
            with around(runs):
                self.forward(jobs, runs)

    def slices(self, jobs: Sequence[Job]) -> list[Runs]:
        """The forwards that the jobs need, each run's owner being the index of its job."""
        return list(slices([job.positions for job in jobs], self._max_tokens, self._max_runs))

    def forward(self, jobs: Sequence[Job], runs: Runs) -> None:
        """One forward. Whatever a wrapped attention layer raises passes through."""
        input_ids, slots = self._rows(jobs, runs)
        common = attention_metadata(runs, [job.block_ids for job in jobs], slots)
        metadata, slot_mapping = {}, {}
        for group in (group for groups in self._runner.attn_groups for group in groups):
            built = group.get_metadata_builder().build(common_prefix_len=0, common_attn_metadata=common)
            for name in group.layer_names:
                metadata[name], slot_mapping[name] = built, slots
        with (
            torch.inference_mode(),
            set_forward_context(metadata, self._config, num_tokens=len(input_ids), slot_mapping=slot_mapping),
        ):
            self._runner.model(
                input_ids=input_ids, positions=runs.positions, intermediate_tensors=None, inputs_embeds=None
            )

    def _rows(self, jobs: Sequence[Job], runs: Runs) -> tuple[Tensor, Tensor]:
        """Token ids (tokens,) int32 and slots (tokens,) int64 of one forward."""
        input_ids = torch.empty(len(runs.positions), dtype=torch.int32)
        slots = torch.empty(len(runs.positions), dtype=torch.int64)
        owners = runs.token_owners
        for owner, job in enumerate(jobs):
            rows = owners == owner
            positions = runs.positions[rows]
            input_ids[rows] = torch.tensor(job.token_ids, dtype=torch.int32)[positions]
            slots[rows] = slots_of(job.block_ids, positions, self._block_size)
        return input_ids, slots


def attention_metadata(runs: Runs, block_ids: Sequence[Sequence[int]], slots: Tensor) -> CommonAttentionMetadata:
    """Each run as a sequence that ends at its last position; runs of one owner share its block table."""
    table = torch.zeros(len(block_ids), max(len(row) for row in block_ids), dtype=torch.int32)
    for owner, row in enumerate(block_ids):
        table[owner, : len(row)] = torch.tensor(row, dtype=torch.int32)
    return CommonAttentionMetadata(
        query_start_loc=runs.starts,
        query_start_loc_cpu=runs.starts,
        seq_lens=runs.lengths,
        num_reqs=runs.count,
        num_actual_tokens=len(runs.positions),
        max_query_len=runs.longest,
        max_seq_len=int(runs.lengths.max()),
        block_table_tensor=table[runs.owners].contiguous(),
        slot_mapping=slots,
        causal=True,
        positions=runs.positions,
    )
