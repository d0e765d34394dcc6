"""A logits processor for benchmark engines: makes a request say given tokens, and keeps its distributions.

Asking vLLM for prompt log-probabilities would switch connector hits off, and whole distributions over HTTP are slow.
A request asks by `vllm_xargs` (`generator.engine.Sampling.extra`):

    preread_trace    a name; the float32 log-probabilities (vocabulary,) of step s, before any processor changed them,
                     go to `<staging>/traces/<name>.<s>.npy`
    preread_steps    how many steps, from the first, are kept and may be forced
    preread_forced   token ids; step s says the s-th of them, later ones are free

A chunked prefill samples in each of its steps; the last overwrites what the earlier ones left of step 0.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor
from vllm import SamplingParams
from vllm.v1.sample.logits_processor import BatchUpdate, LogitsProcessor
from vllm.v1.sample.logits_processor.builtin import process_dict_updates

from app.core.settings import get_settings
from generator.traces import FORCED, STEPS, TRACE, trace_path, traces_dir

if TYPE_CHECKING:
    from vllm.config import VllmConfig


@dataclass(frozen=True)
class _Traced:
    """`said` is vLLM's own list of the tokens so far: it grows as the request does."""

    name: str
    steps: int
    forced: tuple[int, ...]
    said: list[int]


class ForcingProcessor(LogitsProcessor):
    def __init__(self, vllm_config: "VllmConfig", device: torch.device, is_pin_memory: bool) -> None:  # noqa: ARG002
        self._folder = traces_dir(get_settings().effective_staging_dir)
        self._folder.mkdir(parents=True, exist_ok=True)
        self._traced: dict[int, _Traced] = {}

    def is_argmax_invariant(self) -> bool:
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        process_dict_updates(self._traced, batch_update, _traced)

    def apply(self, logits: Tensor) -> Tensor:
        """logits: (requests, vocabulary) float32."""
        for row, traced in self._traced.items():
            step = len(traced.said)
            if step >= traced.steps:
                continue
            np.save(trace_path(self._folder, traced.name, step), logits[row].log_softmax(-1).cpu().numpy())
            if step < len(traced.forced):
                logits[row] = -torch.inf
                logits[row, traced.forced[step]] = 0
        return logits


def _traced(params: SamplingParams, _prompt: list[int] | None, said: list[int]) -> _Traced | None:
    extra: dict[str, Any] = params.extra_args or {}
    if TRACE not in extra:
        return None
    return _Traced(str(extra[TRACE]), int(extra[STEPS]), tuple(map(int, extra.get(FORCED, ()))), said)
