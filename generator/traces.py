"""Traces: whole next-token distributions of a request, left in files by a benchmark's engine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

TRACE, STEPS, FORCED = "preread_trace", "preread_steps", "preread_forced"
PROCESSOR = "generator.vllm.forcing:ForcingProcessor"
"""What vLLM's `--logits-processors` is given."""


def traces_dir(staging: Path) -> Path:
    return staging / "traces"


def trace_path(folder: Path, name: str, step: int) -> Path:
    return folder / f"{name}.{step}.npy"


def trace_arguments(name: str, steps: int, forced: Sequence[int] = ()) -> dict[str, Any]:
    """The request's own arguments: keep the distributions of the first `steps` steps and force their tokens."""
    return {TRACE: name, STEPS: steps, **({FORCED: list(forced)} if forced else {})}
