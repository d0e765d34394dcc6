"""Start-up self-test: write a few tokens through the backend, read them back by attention, compare with float32."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from generator.runs import cut_runs
from generator.vllm.pages import LayerPages, slots_of
from generator.vllm.recompute import attention_metadata

if TYPE_CHECKING:
    from vllm.v1.worker.gpu_model_runner import GPUModelRunner

_TOKENS = 40
_QUERIES = (0, 1, 2, 17, 38, 39)
_TOLERANCE = {torch.float32: 1e-4, torch.float16: 1e-2, torch.bfloat16: 4e-2}


def self_test(runner: "GPUModelRunner", layers: list[LayerPages], block_size: int) -> str | None:
    """None when every layer's pages give back what was written, else a sentence naming the layer and the error.

    Uses the last block of the still empty cache and leaves it zeroed. The queries are scattered runs, so that a wrong
    causal mask shows as well as a wrong layout.
    """
    builders = {
        name: group.get_metadata_builder()
        for groups in runner.attn_groups
        for group in groups
        for name in group.layer_names
    }
    n_blocks = -(-_TOKENS // block_size)
    for layer in layers:
        total = layer.cache.shape[0]
        block_ids = list(range(total - n_blocks, total))
        error = _layer_error(layer, builders[layer.name], block_ids, block_size)
        layer.cache[block_ids] = 0
        if not error <= _TOLERANCE[layer.cache.dtype]:
            return f"the self-test of {layer.name} read back values that are off by {error:.3g}"
    return None


@torch.inference_mode()
def _layer_error(layer: LayerPages, builder: object, block_ids: list[int], block_size: int) -> float:
    generator = torch.Generator().manual_seed(0)
    kv_heads, dim = layer.shape
    heads, dtype = layer.attention.num_heads, layer.cache.dtype

    def noise(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator).to(dtype)

    keys, values = noise(_TOKENS, kv_heads, dim), noise(_TOKENS, kv_heads, dim)
    positions = torch.arange(_TOKENS)
    layer.write(keys, values, slots_of(block_ids, positions, block_size))
    runs = cut_runs(torch.tensor(_QUERIES), torch.zeros(len(_QUERIES), dtype=torch.int64))
    common = attention_metadata(runs, [block_ids], slots_of(block_ids, runs.positions, block_size))
    metadata = builder.build(common_prefix_len=0, common_attn_metadata=common)  # type: ignore[attr-defined]
    queries = noise(len(_QUERIES), heads, dim)
    output = torch.empty_like(queries)
    layer.impl.forward(
        layer.attention, queries, keys[runs.positions], values[runs.positions], layer.cache, metadata, output
    )
    exact = dense_attention(queries, keys, values, runs.positions, layer.impl.scale)
    return float((output.view_as(exact).to(torch.float32) - exact).abs().max())


def dense_attention(queries: Tensor, keys: Tensor, values: Tensor, positions: Tensor, scale: float) -> Tensor:
    """Causal attention in float32.

    Args:
        queries: (queries, heads, head_dim), standing at `positions` (queries,).
        keys, values: (tokens, kv_heads, head_dim), token t standing at position t.
    Returns: (queries, heads, head_dim) float32. Source: Attention Is All You Need (arXiv 1706.03762), eq. 1.
    """
    group = queries.shape[1] // keys.shape[1]
    k, v = (x.to(torch.float32).repeat_interleave(group, dim=1) for x in (keys, values))
    scores = torch.einsum("qhd,thd->hqt", queries.to(torch.float32), k) * scale
    future = torch.arange(len(keys)) > positions[:, None]
    weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
    return torch.einsum("hqt,thd->qhd", weights, v)
