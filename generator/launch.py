"""How the engine process is started: vLLM's own server, our connector, our worker class, our routes."""

import json
import os
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from app.core.settings import Settings
from generator.engine_config import EngineConfig
from generator.fingerprint import model_fingerprint


def engine_command(settings: Settings, model: Path) -> tuple[list[str], dict[str, str]]:
    """The command line and the environment (additions only) that serve the model in folder `model`.

    Intel's OpenMP, which vLLM's CPU build brings along, is loaded first where it is there: measured on two cores it
    made exact and fused answers of the packaged model start 1.4 times sooner.
    """
    config = EngineConfig.from_settings(settings, model_fingerprint(model, settings.effective_dtype))
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
        "--dtype", settings.effective_dtype,
        "--max-model-len", str(settings.max_model_tokens),
        "--max-num-batched-tokens", str(settings.max_batched_tokens),
        "--worker-cls", "generator.vllm.worker.FusionWorker",
        "--kv-transfer-config", json.dumps(transfer),
        "--middleware", "generator.vllm.routes.EngineRoutes",
    ]  # fmt: skip
    if runs_on_cpu():
        # Elsewhere nothing is pre-read, and vLLM's own scheduler works ahead.
        command += ["--scheduler-cls", "generator.vllm.scheduler.TurnTakingScheduler"]
    if settings.tensor_parallel > 1:
        command += ["--tensor-parallel-size", str(settings.tensor_parallel)]
    if not settings.engine_compile:
        command.append("--enforce-eager")
    cores = os.cpu_count() or 1
    threads = settings.engine_threads or cores
    environment = {
        "OMP_NUM_THREADS": str(threads),
        "VLLM_CPU_KVCACHE_SPACE": str(max(settings.engine_kv_gib // settings.tensor_parallel, 1)),
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_USE_V2_MODEL_RUNNER": "0",
        "HF_HUB_OFFLINE": "1",
    }
    if settings.tensor_parallel > 1:
        environment["VLLM_CPU_OMP_THREADS_BIND"] = core_lists(settings.tensor_parallel, threads)
    elif threads < cores:
        # Several engines of a machine would all be bound to its first cores.
        environment["VLLM_CPU_OMP_THREADS_BIND"] = "nobind"
    openmp = Path(sys.prefix) / "lib" / "libiomp5.so"
    if openmp.is_file():
        environment["LD_PRELOAD"] = ":".join(filter(None, (str(openmp), os.environ.get("LD_PRELOAD"))))
    return command, environment


def runs_on_cpu() -> bool:
    """Whether vLLM's CPU build is installed, which is a distribution of its own."""
    try:
        return bool(version("vllm-cpu"))
    except PackageNotFoundError:
        return False


def core_lists(ranks: int, threads: int) -> str:
    """The cores of each rank, as `VLLM_CPU_OMP_THREADS_BIND` wants them: `0,1|2,3`.

    Left to itself vLLM's CPU build wants a memory node for every rank. `threads` of this process's cores are shared out
    evenly; ranks share cores only where there are more ranks than cores.
    """
    cores = sorted(os.sched_getaffinity(0))[:threads]
    each = max(len(cores) // ranks, 1)
    shares = ([cores[(rank * each + n) % len(cores)] for n in range(each)] for rank in range(ranks))
    return "|".join(",".join(map(str, share)) for share in shares)
