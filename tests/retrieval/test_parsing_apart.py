"""A file is read in a process of its own, and whatever it does there has an end and a name."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from pdf_samples import pdf_bytes
from waiting import wait_until

import retrieval.parsing.apart
from retrieval.errors import (
    FileRefused,
    OutOfMemory,
    ParserCrashed,
    ParserKilled,
    ParserUnavailable,
    TooComplex,
    TooMuchText,
)
from retrieval.parsing import ParseLimits, parse, parse_apart

ROOT = Path(__file__).parents[2]
LIMITS = ParseLimits(seconds=30, memory_bytes=600_000_000, characters=10_000)
# Every substitution stands for three of the next.
ENDLESS = (
    "".join(f".. |a{n}| replace:: " + f"|a{n + 1}| " * 3 + "\n" for n in range(24)) + ".. |a24| replace:: x\n\n|a0|\n"
).encode()


@pytest.fixture(autouse=True)
def no_process_is_left():
    before = set(psutil.Process().children(recursive=True))
    yield
    assert set(psutil.Process().children(recursive=True)) <= before


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (b"# Leave\r\n\r\nTwenty-five days, \xf0\x9f\x90\xa2.\n", "leave\n.md"),
        (pdf_bytes("One.", "", "Two."), "テスト 資料①.pdf"),
    ],
)
def test_it_reads_what_the_parser_reads(data: bytes, name: str) -> None:
    assert parse_apart(data, name, LIMITS) == parse(data, name)


def test_a_refusal_comes_back_as_it_was_meant() -> None:
    with pytest.raises(FileRefused) as meant:
        parse(bytes(range(256)), "noise.bin")
    with pytest.raises(type(meant.value)) as raised:
        parse_apart(bytes(range(256)), "noise.bin", LIMITS)
    assert (raised.value.code, raised.value.message, raised.value.hint) == (
        meant.value.code,
        meant.value.message,
        meant.value.hint,
    )


def test_a_file_that_takes_too_long_is_too_complex() -> None:
    with pytest.raises(TooComplex, match=r"endless\.rst takes longer than 1\.5 seconds") as raised:
        parse_apart(ENDLESS, "endless.rst", ParseLimits(seconds=1.5))
    assert "PREREAD_PARSE_SECONDS" in raised.value.hint


def test_a_file_that_takes_too_much_memory_is_told_so() -> None:
    with pytest.raises(OutOfMemory, match=r"wide\.csv") as raised:
        parse_apart(b"a,b,c\n" * 800_000, "wide.csv", ParseLimits(memory_bytes=150_000_000))
    assert "PREREAD_PARSE_MEMORY_BYTES" in raised.value.hint


def test_a_file_with_too_much_text_is_told_so() -> None:
    with pytest.raises(TooMuchText, match="10,001 characters; the limit is 10,000"):
        parse_apart(b"a" * 10_001, "long.txt", LIMITS)


def test_an_answer_beyond_all_bounds_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "import json, os, sys; from retrieval.parsing import child, limits\n"
        "child.parse = lambda *_: limits.ParseLimits(seconds='x' * 3_000_000)\n"
        "child.main()"
    )
    instead(monkeypatch, script)
    with pytest.raises(TooMuchText):
        parse_apart(b"text", "a.txt", LIMITS)


@pytest.mark.parametrize(
    ("script", "refusal"),
    [
        ("import os; os.abort()", ParserCrashed),
        ("import ctypes; ctypes.string_at(0)", ParserCrashed),
        ("raise SystemError('broken')", ParserCrashed),
        ("import os; os.kill(os.getpid(), 9)", ParserKilled),
        ("import os; os.kill(os.getpid(), 24)", TooComplex),
        ("raise MemoryError", OutOfMemory),
    ],
)
def test_a_process_that_breaks_down_names_the_file(
    monkeypatch: pytest.MonkeyPatch, script: str, refusal: type[FileRefused]
) -> None:
    instead(monkeypatch, script)
    with pytest.raises(refusal, match=r"a\.txt") as raised:
        parse_apart(b"text" * 100_000, "a.txt", LIMITS)
    assert raised.value.hint
    monkeypatch.undo()
    assert parse_apart(b"text", "a.txt", LIMITS).text == "text"


def test_a_machine_that_starts_no_process_leaves_the_file_for_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval.parsing.apart, "_COMMAND", ["/nonexistent/python"])
    with pytest.raises(ParserUnavailable):
        parse_apart(b"text", "a.txt", LIMITS)


def test_secrets_of_the_environment_stay_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PREREAD_KV_ENCRYPTION_KEY", "secret")
    instead(monkeypatch, "import os; raise SystemExit(any('secret' in v for v in os.environ.values()) and 1 or 42)")
    with pytest.raises(ParserCrashed, match="42"):
        parse_apart(b"text", "a.txt", LIMITS)


def test_the_process_ends_with_the_one_that_started_it() -> None:
    script = (
        "import sys; from retrieval.parsing import *\n"
        "print('up', flush=True); parse_apart(sys.stdin.buffer.read(), 'a.rst', ParseLimits())"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as worker:
        worker.stdin.write(ENDLESS)
        worker.stdin.close()
        worker.stdout.readline()
        wait_until(lambda: any(_is_busy(child) for child in psutil.Process(worker.pid).children()), "it reads")
        (reader,) = psutil.Process(worker.pid).children()
        os.kill(worker.pid, signal.SIGKILL)
        wait_until(lambda: not reader.is_running() or reader.status() == psutil.STATUS_ZOMBIE, "it ends")


def _is_busy(process: psutil.Process) -> bool:
    """It has been given its limits, and computes."""
    return process.rlimit(psutil.RLIMIT_CORE) == (0, 0) and process.rlimit(psutil.RLIMIT_CPU)[0] == 120


def instead(monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Run this where the parser would run."""
    monkeypatch.setattr(retrieval.parsing.apart, "_COMMAND", [sys.executable, "-c", script])
