"""A watcher that outlives a killed supervisor just long enough to kill what it left.

The kernel tells a child when its parent dies, but not a grandchild such as vLLM's engine core or a Celery worker's
child. The guardian reads `+GROUP` and `-GROUP` lines from the supervisor; when the pipe closes, it kills the process
groups that are still listed and ends.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from typing import TextIO, cast


class Guardian:
    """The supervisor's end. A guardian that was itself killed is replaced at the next word to it."""

    def __init__(self) -> None:
        self._groups: set[int] = set()
        self._popen = _start()

    def watch(self, group: int) -> None:
        self._groups.add(group)
        self._tell(f"+{group}\n")

    def forget(self, group: int) -> None:
        self._groups.discard(group)
        self._tell(f"-{group}\n")

    def close(self) -> None:
        _pipe(self._popen).close()
        self._popen.wait()

    def _tell(self, line: str) -> None:
        if self._popen.poll() is not None:
            _pipe(self._popen).close()
            self._popen = _start()
            line = "".join(f"+{group}\n" for group in self._groups)
        _pipe(self._popen).write(line)


def _start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-I", __file__], stdin=subprocess.PIPE, text=True, bufsize=1, start_new_session=True
    )


def _pipe(popen: subprocess.Popen[str]) -> TextIO:
    return cast("TextIO", popen.stdin)


def survivors(lines: Iterable[str]) -> set[int]:
    """The groups named and not withdrawn."""
    groups: set[int] = set()
    for line in lines:
        group = int(line[1:])
        if line[0] == "+":
            groups.add(group)
        else:
            groups.discard(group)
    return groups


def main() -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for group in survivors(sys.stdin):
        try:
            os.killpg(group, signal.SIGKILL)
        except ProcessLookupError:
            continue


if __name__ == "__main__":
    main()
