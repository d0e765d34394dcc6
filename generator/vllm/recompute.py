"""Recompute: fresh positions as one ordinary forward of the model over runs that share a request's block table."""

from collections.abc import Sequence
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


class Recompute:
    """Runs the engine's own model. In every layer the backend writes a run's fresh keys and values over the old ones
    and attends causally over the mixture."""

    def __init__(self, runner: "GPUModelRunner", config: "VllmConfig", block_size: int) -> None:
        self._runner = runner
        self._config = config
        self._block_size = block_size
        self._max_tokens = config.scheduler_config.max_num_batched_tokens
        self._max_runs = config.scheduler_config.max_num_seqs

    def __call__(self, token_ids: Sequence[int], positions: Tensor, block_ids: Sequence[int]) -> None:
        """Make `positions` (tokens,) of the prompt `token_ids` fresh in the pages of `block_ids`."""
        ids = torch.tensor(token_ids, dtype=torch.int32)
        for runs in slices(positions, self._max_tokens, self._max_runs):
            self._forward(ids[runs.positions], runs, block_ids)

    def _forward(self, input_ids: Tensor, runs: Runs, block_ids: Sequence[int]) -> None:
        slots = slots_of(block_ids, runs.positions, self._block_size)
        common = attention_metadata(runs, block_ids, slots)
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


def attention_metadata(runs: Runs, block_ids: Sequence[int], slots: Tensor) -> CommonAttentionMetadata:
    """Each run as a sequence that ends at its last position; all share one block-table row."""
    table = torch.tensor(block_ids, dtype=torch.int32).expand(runs.count, -1).contiguous()
    return CommonAttentionMetadata(
        query_start_loc=runs.starts,
        query_start_loc_cpu=runs.starts,
        seq_lens=runs.lengths,
        num_reqs=runs.count,
        num_actual_tokens=len(runs.positions),
        max_query_len=runs.longest,
        max_seq_len=int(runs.lengths.max()),
        block_table_tensor=table,
        slot_mapping=slots,
        causal=True,
        positions=runs.positions,
    )
