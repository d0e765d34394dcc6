"""`preread status`: what runs and how far it is."""

import json
from typing import Annotated

import typer
from rich.filesize import decimal
from rich.markup import escape

from app.cli.client import ApiClient
from app.cli.console import out
from app.cli.run_view import run_line
from app.core.settings import get_settings
from app.web.schemas.jobs import JobPageOut, RunOut, RunPageOut
from app.web.schemas.system import CacheReport, StatusOut


def status(as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False) -> None:
    """Show the models, the documents by state, the cache's counters, jobs and the last run."""
    with ApiClient.from_settings(get_settings()) as client:
        state, cache, runs = client.status(), client.cache(), client.runs(1)
        jobs = next(client.jobs(None))
    if as_json:
        counters = cache.model_dump(mode="json", exclude={"documents"})
        last = [run.model_dump(mode="json") for run in runs.items]
        found = {"cache": counters, "jobs": jobs.counts, "last_run": last[0] if last else None}
        typer.echo(json.dumps({**state.model_dump(mode="json"), **found}))
        return
    for name, text in [*state_lines(state), *cache_lines(cache), *work_lines(jobs, runs)]:
        out.print(f"[bold]{name:<16}[/bold]{escape(text)}")


def state_lines(state: StatusOut) -> list[tuple[str, str]]:
    if not state.engine_ready:
        fusion = "unknown: the engine does not answer"
    elif state.fusion:
        fusion = f"on, policy {state.policy}, conditioning {state.conditioning}"
    else:
        fusion = f"off: {state.fusion_reason}"
    documents = ", ".join(f"{count} {name}" for name, count in state.documents.items() if count) or "none"
    return [
        ("model", state.model),
        ("embedding model", state.embedding_model),
        ("engine", "ready" if state.engine_ready else "not answering"),
        ("fusion", fusion),
        ("gate", state.gate),
        ("documents", documents),
        ("pre-read", f"{state.chunks_ready} of {state.chunks} chunks"),
    ]


def work_lines(jobs: JobPageOut, runs: RunPageOut) -> list[tuple[str, str]]:
    counts = ", ".join(f"{count} {name}" for name, count in jobs.counts.items())
    return [("jobs", counts), *((f"{run.kind} run", f"{_since(run)}: {run_line(run)}") for run in runs.items)]


def _since(run: RunOut) -> str:
    return f"{run.state}, begun {run.started_at:%Y-%m-%d %H:%M} UTC"


def cache_lines(cache: CacheReport) -> list[tuple[str, str]]:
    rate = "no data" if cache.hit_rate is None else f"{cache.hit_rate:.0%} hit (n = {cache.lookups})"
    misses = ", ".join(f"{miss.chunks} {miss.reason}" for miss in cache.misses_by_reason)
    lines = [("cache", rate), ("tokens reused", f"{cache.tokens_reused:,}"), ("chunk KV", decimal(cache.kv_bytes))]
    return [*lines, ("misses", misses)] if misses else lines
