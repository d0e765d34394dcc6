"""A Hugging Face decoder in float32 that computes any rows of a prompt over given keys and values."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface, AutoModelForCausalLM, PreTrainedModel

from benchmarks.lab.cache import LastLayer, ScatterCache

_ATTENTION = "preread-lab"


@dataclass
class Watch:
    """Queries seen in a pass: for each layer (heads, rows, head_dim), rotated."""

    queries: list[Tensor] = field(default_factory=list)


@dataclass(frozen=True)
class _Pass:
    """masks: one a layer, (rows, keys) bool, True where seen; None where plain causality from position 0 holds."""

    masks: list[Tensor | None]
    watch: Watch | None


class DenseModel:
    """The configured model, dense, on the CPU."""

    def __init__(self, model: PreTrainedModel) -> None:
        model.set_attn_implementation(_ATTENTION)
        self._model: Any = model
        self._model.train(False)
        config: Any = model.config
        self.layers = int(config.num_hidden_layers)
        self.heads = int(config.num_attention_heads)
        self.kv_heads = int(config.num_key_value_heads)
        self.head_dim = int(getattr(config, "head_dim", None) or config.hidden_size // self.heads)
        eos = config.eos_token_id
        self.eos = frozenset(eos if isinstance(eos, list) else [eos])

    @classmethod
    def load(cls, folder: Path) -> "DenseModel":
        return cls(AutoModelForCausalLM.from_pretrained(str(folder), dtype=torch.float32, local_files_only=True))

    def empty_cache(self, positions: int) -> ScatterCache:
        return ScatterCache.empty(self.layers, self.kv_heads, positions, self.head_dim)

    @torch.inference_mode()
    def cos_sin(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Two (tokens, rotary_dim // 2) float32 tensors for (tokens,) positions; half-split pairing."""
        cos, sin = self._model.model.rotary_emb(torch.zeros(1), position_ids=positions[None])
        half = cos.shape[-1] // 2
        return cos[0, :, :half], sin[0, :, :half]

    @torch.inference_mode()
    def forward(
        self,
        cache: ScatterCache,
        ids: Tensor,
        slots: Tensor,
        *,
        positions: Tensor | None = None,
        limits: list[Tensor] | None = None,
        watch: Watch | None = None,
        last_layer: int | None = None,
    ) -> Tensor | None:
        """Compute rows, write their keys and values into `cache`.

        Args:
            ids, slots: (rows,) int64; where each row stands in `cache`, ascending.
            positions: (rows,) its rotary position; its slot, unless given.
            limits: one a layer, (rows,): the last slot each row sees; its own, unless given.
            watch: collects the queries.
            last_layer: stop once this layer's keys and values are written.
        Returns: (rows, hidden) after the final norm; None when stopped early.
        """
        seen = [slots] * self.layers if limits is None else limits
        end = max(int(limit.max()) for limit in {id(limit): limit for limit in seen}.values()) + 1
        cache.aim(slots, end, self.layers if last_layer is None else last_layer)
        known = {id(limit): _mask(slots, limit, end) for limit in seen}
        state = _Pass([known[id(limit)] for limit in seen], watch)
        try:
            output = self._model.model(
                input_ids=ids[None],
                position_ids=(slots if positions is None else positions)[None],
                past_key_values=cache,
                use_cache=False,
                lab_pass=state,
            )
        except LastLayer:
            return None
        hidden: Tensor = output.last_hidden_state[0]
        return hidden

    @torch.inference_mode()
    def log_probabilities(self, hidden: Tensor) -> Tensor:
        """(rows, hidden) to (rows, vocabulary), natural logarithms."""
        logits: Tensor = self._model.lm_head(hidden)
        return logits.float().log_softmax(-1)


def _mask(slots: Tensor, limits: Tensor, end: int) -> Tensor | None:
    if limits is slots and int(slots[0]) == 0 and int(slots[-1]) == len(slots) - 1:
        return None
    return torch.arange(end) <= limits[:, None]


def _attend(
    module: Any,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,  # noqa: ARG001 - the pass carries one for each layer
    scaling: float | None = None,
    *,
    lab_pass: _Pass,
    **_: Any,
) -> tuple[Tensor, None]:
    if lab_pass.watch is not None:
        lab_pass.watch.queries.append(query[0])
    mask = lab_pass.masks[module.layer_idx]
    group = query.shape[1] // key.shape[1]
    if mask is not None:
        key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
    output = scaled_dot_product_attention(
        query, key, value, attn_mask=mask, is_causal=mask is None, scale=scaling, enable_gqa=mask is None
    )
    return output.transpose(1, 2).contiguous(), None


AttentionInterface.register(_ATTENTION, _attend)
