"""Reading a stranger's file in a process of its own, which may break down without harm.

A file takes at most the time, memory and text of `ParseLimits`; whatever happens, no process is left behind.
"""

import json
import logging
import os
import signal
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from retrieval.errors import (
    FileRefused,
    OutOfMemory,
    ParserCrashed,
    ParserKilled,
    ParserUnavailable,
    TooComplex,
    TooMuchText,
)
from retrieval.parsing.document import Heading, PageSpan, ParsedDocument
from retrieval.parsing.limits import OUT_OF_MEMORY, TOO_MUCH_TEXT, ParseLimits

log = logging.getLogger(__name__)

_COMMAND = [sys.executable, "-P", "-m", "retrieval.parsing.child"]
# Nothing else of the environment: it holds secrets.
_KEPT = ("PATH", "LD_LIBRARY_PATH", "PYTHONHOME", "TMPDIR")
_ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}
_SHOWN_OF_ERRORS = 2000
_REFUSALS = {refusal.code: refusal for refusal in FileRefused.__subclasses__()}
_SIMPLER = "Split it, or save it in a simpler form."


def parse_apart(data: bytes, name: str, limits: ParseLimits) -> ParsedDocument:
    """As `parser.parse`, within limits.

    Raises: FileRefused, and ParserUnavailable where no process can be started.
    """
    order = {"name": name, "parent": os.getpid(), "limits": asdict(limits)}
    with TemporaryFile() as answer, TemporaryFile() as errors:
        try:
            # `run` kills the process when its time is up, and when this one is interrupted.
            process = subprocess.run(
                _COMMAND, input=json.dumps(order).encode() + b"\n" + data, stdout=answer, stderr=errors,
                env=_environment(), start_new_session=True, timeout=limits.seconds, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            raise _too_slow(name, limits) from None
        except OSError as error:
            raise ParserUnavailable(
                f"No process can be started to read {name} in: {error}.", "See to this machine's memory and processes."
            ) from error
        answer.seek(0)
        errors.seek(0)
        if process.returncode == 0:
            return _result(json.load(answer))
        raise _failure(process.returncode, name, limits, errors.read(_SHOWN_OF_ERRORS).decode(errors="replace"))


def _environment() -> dict[str, str]:
    kept = {key: os.environ[key] for key in _KEPT if key in os.environ}
    places = os.pathsep.join(str(Path(place).absolute()) for place in sys.path)
    return {**kept, **_ONE_THREAD, "PYTHONPATH": places}


def _result(answer: dict[str, Any]) -> ParsedDocument:
    """Raises: FileRefused."""
    match answer:
        case {"refused": [code, message, hint]}:
            raise _REFUSALS[code](message, hint)
        case {"parsed": {"title": title, "media_type": media_type, "text": text, "pages": pages, "headings": headings}}:
            return ParsedDocument(
                title,
                media_type,
                text,
                tuple(PageSpan(**page) for page in pages),
                tuple(Heading(**heading) for heading in headings),
            )
    raise AssertionError(f"an answer of no known form: {list(answer)}")


def _failure(code: int, name: str, limits: ParseLimits, errors: str) -> FileRefused:
    if code == OUT_OF_MEMORY or "MemoryError" in errors:
        return OutOfMemory(
            f"Reading {name} takes more than {limits.memory_bytes:,} bytes of memory.",
            f"{_SIMPLER} PREREAD_PARSE_MEMORY_BYTES sets the limit.",
        )
    if code == TOO_MUCH_TEXT:
        return TooMuchText(f"{name} has too much text.", f"{_SIMPLER} PREREAD_MAX_TEXT_CHARACTERS sets the limit.")
    if code == -signal.SIGXCPU:
        return _too_slow(name, limits)
    if code == -signal.SIGKILL:
        return ParserKilled(
            f"The process that read {name} was ended from outside, perhaps for want of memory on this machine.",
            "Try again; if it happens again, see to the machine's memory.",
        )
    log.error("the process that read %s ended with %d: %s", name, code, errors)
    return ParserCrashed(
        f"The process that read {name} broke down ({code}).", "Save the file again, in another form if that fails too."
    )


def _too_slow(name: str, limits: ParseLimits) -> TooComplex:
    return TooComplex(
        f"Reading {name} takes longer than {limits.seconds:g} seconds.",
        f"{_SIMPLER} PREREAD_PARSE_SECONDS sets the limit.",
    )
