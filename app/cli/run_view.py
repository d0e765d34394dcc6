"""A run of pre-reading as lines and as a bar."""

import time
from collections.abc import Callable

from rich.filesize import decimal
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from app.cli.client import ApiClient
from app.cli.console import err
from app.web.schemas.jobs import RunOut

_PAUSE_SECONDS = 0.5


def run_line(run: RunOut) -> str:
    """One sentence: what was planned and what became of it."""
    parts = [f"{run.done} of {run.planned} documents pre-read", f"{run.skipped} had nothing missing"]
    parts += [f"{run.failed} failed"] * bool(run.failed) + [f"{run.left} left"] * bool(run.left)
    if run.tokens_per_second is not None:
        parts.append(f"{run.tokens:,} tokens at {run.tokens_per_second:,.0f} a second, {decimal(run.bytes)}")
    rates = [_rate("before", run.hit_rate_before), _rate("after", run.hit_rate_after)]
    parts += [rate for rate in rates if rate]
    return ", ".join(parts) + (f". {run.reason}" if run.reason else "")


def follow(client: ApiClient, run_id: str, sleep: Callable[[float], None] = time.sleep) -> RunOut:
    """Show a bar until the run has ended; it goes on by itself if this is interrupted."""
    columns = (
        TextColumn("documents"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.description}"),
        TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=err, transient=True) as progress:
        bar = progress.add_task("")
        while True:
            run = client.run(run_id)
            rate = "" if run.tokens_per_second is None else f"{run.tokens_per_second:,.0f} tokens/s"
            progress.update(bar, total=run.planned, completed=run.planned - run.left, description=rate)
            if run.state != "running":
                return run
            sleep(_PAUSE_SECONDS)


def _rate(when: str, rate: float | None) -> str:
    return "" if rate is None else f"hit rate {when} {rate:.0%}"
