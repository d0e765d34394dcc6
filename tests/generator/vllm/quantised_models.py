"""The tiny Llama with quantised weights, written as other tools write their checkpoints."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from tiny_models import save_tiny_model
from torch import Tensor

AVX512 = torch.cpu._is_avx512_supported()
"""Without it vLLM's CPU build multiplies no 4-bit weights and keeps no KV in fp8: it refuses such models itself."""

INT8_DTYPE = "bfloat16" if torch.cpu._is_amx_tile_supported() else "float32"
"""With AMX vLLM's CPU build multiplies 8-bit weights with 16-bit activations alone."""

_GROUP = 32
_NIBBLES = torch.arange(8) * 4


def _int8(weight: Tensor) -> dict[str, Tensor]:
    """compressed-tensors, W8A8: one scale an output channel; activations are quantised per token as they come."""
    scale = weight.abs().amax(dim=1, keepdim=True) / 127
    return {"weight": (weight / scale).round().to(torch.int8), "weight_scale": scale}


def _gptq(weight: Tensor) -> dict[str, Tensor]:
    """GPTQ, W4A16: symmetric, one scale for 32 inputs of each output; eight values in an int32, along the inputs."""
    outputs, inputs = weight.shape
    grouped = weight.view(outputs, inputs // _GROUP, _GROUP)
    scales = grouped.abs().amax(dim=2, keepdim=True) / 7
    values = (grouped / scales).round().clamp(-8, 7).to(torch.int64).view(outputs, inputs).T + 8
    return {
        "qweight": _packed(values.view(inputs // 8, 8, outputs).transpose(1, 2)),
        "qzeros": _packed(torch.full((inputs // _GROUP, outputs // 8, 8), 7)),
        "scales": scales[..., 0].T.contiguous().to(torch.float16),
        "g_idx": torch.arange(inputs, dtype=torch.int32) // _GROUP,
    }


def _packed(values: Tensor) -> Tensor:
    """(…, 8) values under 16 as (…) int32."""
    return (values << _NIBBLES).sum(dim=-1).to(torch.int32).contiguous()


_INT8 = {"num_bits": 8, "type": "int", "symmetric": True}
_INT8_CONFIG: dict[str, Any] = {
    "quant_method": "compressed-tensors",
    "format": "int-quantized",
    "quantization_status": "compressed",
    "ignore": ["lm_head"],
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": _INT8 | {"strategy": "channel", "dynamic": False},
            "input_activations": _INT8 | {"strategy": "token", "dynamic": True},
        }
    },
}
_FP8_KV = {"num_bits": 8, "type": "float", "symmetric": True, "strategy": "tensor", "dynamic": False}
_GPTQ_CONFIG = {"quant_method": "gptq", "bits": 4, "group_size": _GROUP, "desc_act": False, "sym": True}

QUANTISED: dict[str, tuple[Callable[[Tensor], dict[str, Tensor]], dict[str, Any]]] = {
    "int8-w8a8": (_int8, _INT8_CONFIG),
    "int8-w8a8-fp8-kv": (_int8, _INT8_CONFIG | {"kv_cache_scheme": _FP8_KV}),
    "gptq-w4a16": (_gptq, _GPTQ_CONFIG),
}


def save_quantised_model(kind: str, folder: Path) -> Path:
    """Write the tiny Llama into `folder`, all its linear layers but the output head quantised."""
    quantise, stated = QUANTISED[kind]
    save_tiny_model("llama", folder)
    tensors: dict[str, Tensor] = {}
    for name, tensor in load_file(folder / "model.safetensors").items():
        if name.endswith("_proj.weight"):
            stem = name.removesuffix("weight")
            tensors |= {stem + part: value for part, value in quantise(tensor).items()}
        else:
            tensors[name] = tensor
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"quantization_config": stated}))
    return folder
