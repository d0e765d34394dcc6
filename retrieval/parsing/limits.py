"""What reading one file may take, and how a process is held to it."""

import ctypes
import math
import os
import resource
import signal
from dataclasses import dataclass

from retrieval.parsing.parser import MOST_CHARACTERS

# How a process that reads a file ends where it cannot answer.
OUT_OF_MEMORY = 3
TOO_MUCH_TEXT = 4

_PR_SET_PDEATHSIG = 1
# As JSON, a character takes six bytes at most, and headings say some of the text again.
_BYTES_PER_CHARACTER = 12
_LEAST_ANSWER_BYTES = 1_000_000


@dataclass(frozen=True)
class ParseLimits:
    """`seconds` are of the clock and of the CPU, `memory_bytes` is address space."""

    seconds: float = 120
    memory_bytes: int = 2_000_000_000
    characters: int = MOST_CHARACTERS


def confine(limits: ParseLimits, parent: int) -> None:
    """Hold this process to the limits from now on, and end it with `parent` and no sooner."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
    seconds = math.ceil(limits.seconds)
    answer_bytes = _LEAST_ANSWER_BYTES + _BYTES_PER_CHARACTER * limits.characters
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    resource.setrlimit(resource.RLIMIT_FSIZE, (answer_bytes, answer_bytes))
