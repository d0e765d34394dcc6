"""Which models are fused: those whose kind was tested. Every other one is served exactly, and this says why."""

from typing import TYPE_CHECKING

from vllm.model_executor.layers.attention import Attention
from vllm.v1.attention.backend import AttentionType

if TYPE_CHECKING:
    from vllm.config import VllmConfig

TESTED_ARCHITECTURES = ("LlamaForCausalLM", "Qwen2ForCausalLM", "Qwen3ForCausalLM")
TESTED_BACKENDS = ("CPU_ATTN",)
TESTED_CACHES = ("auto", "bfloat16", "float16", "float32")


def why_unsupported(config: "VllmConfig", layers: dict[str, object]) -> str | None:
    """A sentence for the operator, or None when the model may be fused. `layers` are those that own KV, by name."""
    model, parallel = config.model_config, config.parallel_config
    architecture = model.architecture
    if architecture not in TESTED_ARCHITECTURES:
        return f"the architecture {architecture} has not been tested"
    if parallel.world_size != parallel.tensor_parallel_size or parallel.data_parallel_size > 1:
        return "parallelism other than tensor parallelism has not been tested"
    if config.speculative_config is not None:
        return "speculative decoding has not been tested"
    reasons = (_why_not(name, layer) for name, layer in layers.items())
    return next((reason for reason in reasons if reason), None)


def _why_not(name: str, layer: object) -> str | None:
    if type(layer) is not Attention:
        return f"layer {name} is a {type(layer).__name__}, which has not been tested"
    if layer.sliding_window is not None:
        return f"layer {name} has a sliding window"
    if layer.kv_sharing_target_layer_name is not None:
        return f"layer {name} shares another layer's KV"
    if layer.attn_type != AttentionType.DECODER:
        return f"layer {name} is not a decoder's"
    if layer.kv_cache_dtype not in TESTED_CACHES:
        return f"layer {name} keeps its KV in {layer.kv_cache_dtype}, which has not been tested"
    if layer.has_sink:
        return f"layer {name} has attention sinks"
    backend = layer.attn_backend.get_name()
    if backend not in TESTED_BACKENDS:
        return f"the attention backend {backend} has not been tested"
    return None
