"""How the engine process is started: vLLM's own server, our connector, our worker class, our routes."""

import json
import os
import sys
from pathlib import Path

from app.core.settings import Settings
from generator.engine_config import EngineConfig
from generator.fingerprint import model_fingerprint


def engine_command(settings: Settings, model: Path) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment (additions only) that serve the model in folder `model`.

    Intel's OpenMP, which vLLM's CPU build brings along, is loaded first where it is there: measured on two cores it
    made exact and fused answers of the packaged model start 1.4 times sooner.
    """
    config = EngineConfig.from_settings(settings, model_fingerprint(model, settings.dtype))
    transfer = {
        "kv_connector": "FusionConnector",
        "kv_connector_module_path": "generator.vllm.connector",
        "kv_role": "kv_both",
        "kv_load_failure_policy": "recompute",
        "kv_connector_extra_config": config.to_json(),
    }
    command = [
        sys.executable, "-m", "vllm.entrypoints.openai.api_server",
        "--model", str(model),
        "--served-model-name", settings.model,
        "--host", settings.engine_host,
        "--port", str(settings.engine_port),
        "--dtype", settings.dtype,
        "--max-model-len", str(settings.max_model_tokens),
        "--max-num-batched-tokens", str(settings.max_batched_tokens),
        "--worker-cls", "generator.vllm.worker.FusionWorker",
        "--kv-transfer-config", json.dumps(transfer),
        "--middleware", "generator.vllm.routes.EngineRoutes",
    ]  # fmt: skip
    if not settings.engine_compile:
        command.append("--enforce-eager")
    environment = {
        "OMP_NUM_THREADS": str(settings.engine_threads or os.cpu_count() or 1),
        "VLLM_CPU_KVCACHE_SPACE": str(settings.engine_kv_gib),
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_USE_V2_MODEL_RUNNER": "0",
        "HF_HUB_OFFLINE": "1",
    }
    openmp = Path(sys.prefix) / "lib" / "libiomp5.so"
    if openmp.is_file():
        environment["LD_PRELOAD"] = ":".join(filter(None, (str(openmp), os.environ.get("LD_PRELOAD"))))
    return command, environment
