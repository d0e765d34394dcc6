"""What the machine computes in 16 bits by itself."""

from pathlib import Path

_FLAGS = frozenset({"avx512_bf16", "amx_bf16", "bf16", "svebf16"})
"""How Linux names the extensions, on x86 and on Arm."""

_ACCELERATORS = ("/dev/nvidiactl", "/dev/kfd")


def computes_bfloat16(cpuinfo: Path = Path("/proc/cpuinfo"), accelerators: tuple[str, ...] = _ACCELERATORS) -> bool:
    """Whether bfloat16 is computed rather than emulated, which takes eight times as long as float32 (AMD EPYC, AVX2).

    Also where nothing is known: no accelerator, and no flags to read.
    """
    if any(Path(device).exists() for device in accelerators) or not cpuinfo.is_file():
        return True
    rows = (line.partition(":") for line in cpuinfo.read_text().splitlines())
    flags = [value.split() for name, _, value in rows if name.strip() in {"flags", "Features"}]
    return not flags or not _FLAGS.isdisjoint(flags[0])
