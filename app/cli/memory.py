"""Whether the embedded stack fits into memory."""

from dataclasses import dataclass
from pathlib import Path

import psutil

from app.cli.errors import MemoryShort
from app.core.settings import Settings

_GIB = 2**30
_REST_BYTES = 2 * _GIB
_TIGHT_BYTES = _GIB
_WEIGHTS = ("*.safetensors", "*.bin")


@dataclass(frozen=True)
class MemoryNeed:
    """Bytes for the model's weights, the engine's paged KV, its chunk KV, and everything else."""

    weights: int
    paged_kv: int
    chunk_kv: int
    rest: int = _REST_BYTES

    @property
    def total(self) -> int:
        return self.weights + self.paged_kv + self.chunk_kv + self.rest

    def __str__(self) -> str:
        return (
            f"{gib(self.total)}: model {gib(self.weights)}, paged KV {gib(self.paged_kv)}, "
            f"chunk KV {gib(self.chunk_kv)}, the rest {gib(self.rest)}"
        )


def memory_need(settings: Settings, model: Path) -> MemoryNeed:
    """`model`: the folder with the weights; without weight files in it they count as nothing.

    Files hold 16 bits a weight, as nearly all do: in float32 they take twice the memory.
    """
    stored = next((sizes for pattern in _WEIGHTS if (sizes := _bytes_of(model, pattern))), 0)
    weights = 2 * stored if settings.effective_dtype == "float32" else stored
    return MemoryNeed(weights, settings.engine_kv_gib * _GIB, settings.kv_memory_bytes)


def judge_memory(need: MemoryNeed, available: int) -> str:
    """Empty when it fits, else a warning sentence. Raises MemoryShort when it cannot work."""
    if available >= need.total:
        return ""
    sentence = f"Memory is short: {gib(available)} are free, and Preread may use {need}."
    if available < need.total - _TIGHT_BYTES:
        raise MemoryShort(
            sentence,
            "Close other programs, or lower PREREAD_ENGINE_KV_GIB or PREREAD_KV_MEMORY_BYTES, "
            "or set PREREAD_MODEL to a smaller model, or PREREAD_DTYPE to bfloat16.",
        )
    return f"{sentence} It may become slow."


def available_bytes(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """Memory that can be had: the machine's, or less inside a container with a limit (cgroup v2)."""
    available = int(psutil.virtual_memory().available)
    limit_file, used_file = cgroup / "memory.max", cgroup / "memory.current"
    if not (limit_file.is_file() and used_file.is_file()):
        return available
    limit = limit_file.read_text().strip()
    if limit == "max":
        return available
    return min(available, max(0, int(limit) - int(used_file.read_text())))


def gib(count: int) -> str:
    return f"{count / _GIB:.1f} GiB"


def _bytes_of(folder: Path, pattern: str) -> int:
    return sum(path.stat().st_size for path in folder.glob(pattern))
