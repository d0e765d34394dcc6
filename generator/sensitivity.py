"""What a model's profile is calibrated on: chunk KV, and how errors in it change what the model says next.

For small errors the divergence of the answer's distribution is half the error's square in the Fisher metric; with text
that the model itself draws, the squared gradient of its log-probability estimates that metric (Martens, New insights
and perspectives on the natural gradient method, 2020, section 5).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import AutoModelForCausalLM, DynamicCache

from generator.errors import ModelNotFound
from kernels.rope import rotate_keys, unrotate_keys
from kvstore.calibration import CalibrationSample

CHUNK_TOKENS = 512
LATER_TOKENS = 128
_DRAWS = 2


class SensitiveModel:
    """The model in float32 on the CPU, outside the engine."""

    def __init__(self, folder: Path, seed: int = 0) -> None:
        """Raises ModelNotFound for a model that transformers cannot load as it is, as some quantised ones."""
        try:
            self._model: Any = AutoModelForCausalLM.from_pretrained(
                str(folder), dtype=torch.float32, local_files_only=True
            )
        except (OSError, ValueError, ImportError) as error:
            raise ModelNotFound(
                f"{folder} cannot be calibrated, since transformers does not load it: {error}",
                "Calibrate the model it was made from, or use a preset that needs no profile, such as int8.",
            ) from error
        self._model.requires_grad_(requires_grad=False)
        self._random = torch.Generator().manual_seed(seed)

    def sample(self, before: Sequence[int], chunk: Sequence[int], later: Sequence[int]) -> CalibrationSample:
        """Read `chunk` behind `before` (preamble, and passage if any), and see what `later` tokens make of it."""
        cache: Any = DynamicCache()
        with torch.no_grad():
            self._model.model(torch.tensor([[*before, *chunk]]), past_key_values=cache, use_cache=True)
        keys = [layer.keys.clone().requires_grad_() for layer in cache.layers]
        values = [layer.values.clone().requires_grad_() for layer in cache.layers]
        read = slice(len(before), len(before) + len(chunk))
        cos, sin = self._cos_sin(torch.arange(len(before), len(before) + len(chunk)))
        rotary_dim = 2 * cos.shape[1]

        def rows(tensors: Sequence[Tensor]) -> list[Tensor]:
            """Each layer's part of the chunk, (tokens, kv_heads, head_dim)."""
            return [tensor.detach()[0, :, read].transpose(0, 1).contiguous() for tensor in tensors]

        plain = [unrotate_keys(each, cos, sin, neox=True, rotary_dim=rotary_dim) for each in rows(keys)]
        gradients = []
        for drawn in self._gradients(keys, values, later):
            # Keys were turned to be used, so their gradient is turned back by the transpose.
            of_keys = [
                rotate_keys(each, cos, -sin, neox=True, rotary_dim=rotary_dim) for each in rows(drawn[: len(keys)])
            ]
            gradients.append(_stacked(of_keys, rows(drawn[len(keys) :])))
        return CalibrationSample(_stacked(plain, rows(values)), torch.stack(gradients).to(torch.bfloat16))

    def _gradients(
        self, keys: list[Tensor], values: list[Tensor], later: Sequence[int]
    ) -> Iterator[tuple[Tensor, ...]]:
        cache = DynamicCache()
        for layer, (key, value) in enumerate(zip(keys, values, strict=True)):
            cache.update(key, value, layer)
        output = self._model(torch.tensor([list(later)]), past_key_values=cache, use_cache=True)
        chances = output.logits[0].log_softmax(-1)
        for draw in range(_DRAWS):
            tokens = torch.multinomial(chances.detach().exp(), 1, generator=self._random)
            total = chances.gather(1, tokens).sum() / len(later) ** 0.5
            yield torch.autograd.grad(total, [*keys, *values], retain_graph=draw + 1 < _DRAWS)

    def _cos_sin(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        cos, sin = self._model.model.rotary_emb(torch.zeros(1), position_ids=positions[None])
        half = cos.shape[-1] // 2
        return cos[0, :, :half], sin[0, :, :half]


def _stacked(keys: Sequence[Tensor], values: Sequence[Tensor]) -> Tensor:
    """(2, layers, tokens, kv_heads, head_dim)."""
    return torch.stack([torch.stack(list(part)) for part in (keys, values)])


__all__ = ["CHUNK_TOKENS", "LATER_TOKENS", "SensitiveModel"]
