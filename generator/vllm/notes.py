"""Notes: small files by which the worker side tells the engine's HTTP routes what became of a request.

vLLM has no way to do that for streams: a request's output leaves before the worker's report reaches the scheduler.
"""

import json
import logging
import re
import time
from pathlib import Path
from typing import Any

from generator.report import FusionReport

log = logging.getLogger(__name__)

_KEEP_SECONDS = 600.0
_SWEEP_EVERY = 256
_REQUEST_ID = re.compile(r"[A-Za-z0-9_-]{1,80}")


class Notes:
    """Written atomically under `folder`, swept after ten minutes.

    A note that cannot be written is only logged: an answer without a report is still an answer. `quiet` ones write
    none, as every rank but the first.
    """

    def __init__(self, folder: Path, *, quiet: bool = False) -> None:
        self._folder = folder
        self._quiet = quiet
        self._written = 0
        folder.mkdir(parents=True, exist_ok=True)

    def write_report(self, report: FusionReport) -> None:
        self._write(f"report-{report.request_id}", report.to_json())

    def write_capture(self, request_id: str, problem: str | None, seconds: float = 0.0) -> None:
        """`problem` is None when the chunk was staged whole. `seconds`: how long its steps took."""
        self._write(f"capture-{request_id}", {"problem": problem, "seconds": seconds})

    def read(self, kind: str, request_id: str) -> dict[str, Any] | None:
        """A note of kind `report` or `capture`, or None while there is none."""
        if not _REQUEST_ID.fullmatch(request_id):
            return None
        try:
            note: dict[str, Any] = json.loads((self._folder / f"{kind}-{request_id}.json").read_text())
        except FileNotFoundError:
            return None
        return note

    def _write(self, name: str, body: dict[str, Any]) -> None:
        if self._quiet:
            return
        temporary = self._folder / f".{name}.tmp"
        try:
            temporary.write_text(json.dumps(body))
            temporary.rename(self._folder / f"{name}.json")
        except OSError as error:
            log.error("the note %s cannot be written: %s", name, error)
            return
        self._written += 1
        if self._written % _SWEEP_EVERY == 0:
            self._sweep()

    def _sweep(self) -> None:
        oldest = time.time() - _KEEP_SECONDS
        for path in self._folder.iterdir():
            try:
                if path.stat().st_mtime < oldest:
                    path.unlink()
            except FileNotFoundError:
                # Another engine on the same folder swept it first.
                continue
