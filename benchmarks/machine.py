"""What every benchmark result says about where it was made."""

import platform
import shlex
import sys
from pathlib import Path
from typing import Any

import psutil
import torch


def provenance(model: str, dtype: str) -> dict[str, Any]:
    """The keys `model`, `dtype`, `machine` and `command` that all results share."""
    return {"model": model, "dtype": dtype, "machine": _machine(), "command": shlex.join(["preread", *sys.argv[1:]])}


def _machine() -> str:
    memory = psutil.virtual_memory().total / 2**30
    gpu = f", {torch.cuda.get_device_name()}" if torch.cuda.is_available() else ""
    return f"{_processor()}, {len(psutil.Process().cpu_affinity() or [])} cores, {memory:.0f} GiB{gpu}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
