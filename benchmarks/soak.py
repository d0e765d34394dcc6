"""`preread bench soak`: many questions at once, some broken off, while chunks come and go in too small a cache."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from app.core.settings import get_settings
from benchmarks.bench_engine import BenchEngine, bench_engine
from benchmarks.context import Piece
from benchmarks.corpus import HANDBOOK, pieces_of_text
from benchmarks.errors import NotFused
from benchmarks.machine import provenance
from benchmarks.soak_alone import Alone
from benchmarks.soak_engine import GAUGES, fill_pages, settled
from benchmarks.soak_traffic import READING, Answered, Traffic
from benchmarks.soak_turns import POLICIES, Turn, turns
from generator.engine import EngineClient

_POOL = 16
MOST_GROWN = 2**27
"""Bytes that the engine's processes may grow by after the first quarter of the questions."""
_SMALL_ENGINE = {"dtype": "float32", "max_model_tokens": 2048, "engine_kv_gib": 1}
_NO_CODE_CACHE = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "0", "LRU_CACHE_CAPACITY": "1"}
"""oneDNN keeps code for a thousand shapes, which would look like a leak."""


def soak(
    questions: Annotated[int, typer.Option(min=1, help="Questions to ask.")] = 300,
    concurrency: Annotated[int, typer.Option(min=1, help="Questions at a time.")] = 4,
    seed: Annotated[int, typer.Option(help="What is asked and deleted depends on it.")] = 0,
    chunks: Annotated[int, typer.Option(min=1, help="Most chunks in a prompt.")] = 3,
    chunk_tokens: Annotated[int, typer.Option(min=1, help="Tokens in each chunk.")] = 128,
    kv_memory_bytes: Annotated[int, typer.Option(min=0, help="Chunk KV in the engine's memory.")] = 20_000_000,
    kv_disk_bytes: Annotated[int, typer.Option(min=0, help="Chunk KV on disk.")] = 60_000_000,
    bound: Annotated[float, typer.Option(min=0, help="Most that a probability may differ.")] = 1e-4,
    text: Annotated[Path, typer.Option(help="Folder of Markdown or text to cut chunks from.")] = HANDBOOK,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Answers under load against the same requests alone, and what the load leaves behind, in an engine of its own.

    The engine computes in float32; chunk KV is stored losslessly. Ends with status 1 when an answer differs by more
    than the bound or a check fails.
    """
    limits = {"kv_memory_bytes": kv_memory_bytes, "kv_disk_bytes": kv_disk_bytes}
    settings = get_settings().model_copy(update={**_SMALL_ENGINE, **limits, "kv_preset": "lossless"})
    os.environ.update(_NO_CODE_CACHE)
    console = Console(stderr=True)
    console.print("starting an engine …")
    with bench_engine(settings, traced=True) as engine, Progress(console=console) as progress:
        pieces = pieces_of_text(engine.tokenizer, text, _POOL * chunk_tokens, chunk_tokens)
        asked = turns(seed, questions, len(pieces), chunks)
        run = asyncio.run(_soak(engine, pieces, asked, concurrency, seed, progress))
    result = {
        **provenance(settings.model, settings.effective_dtype),
        "questions": questions,
        "concurrency": concurrency,
        "seed": seed,
        "chunks": chunks,
        "chunk_tokens": chunk_tokens,
        **limits,
        "bound": bound,
        **run,
    }
    result["checks"] = checks(result)
    if as_json:
        typer.echo(json.dumps(result))
    else:
        Console().print(_table(result))
    if not all(result["checks"].values()):
        raise typer.Exit(1)


async def _soak(
    engine: BenchEngine, pieces: Sequence[Piece], asked: Sequence[Turn], concurrency: int, seed: int, bar: Progress
) -> dict[str, Any]:
    """Raises NotFused where the engine serves everything exactly, EngineUnavailable, EngineFailed."""
    if not engine.status.fusion:
        raise NotFused(f"This model is served exactly: {engine.status.fusion_reason}.", "Choose another model.")
    client = EngineClient(engine.client.url)
    traffic = Traffic(engine, client, pieces, Random(seed))  # noqa: S311
    alone = Alone(engine, client, pieces)
    try:
        await asyncio.to_thread(engine.preread_fixed, 1, READING)
        await fill_pages(engine, client)
        asking = bar.add_task("asking", total=len(asked))
        warm = max(len(asked) // 4, 1)
        await traffic.run(asked[:warm], concurrency, lambda: bar.advance(asking))
        before = await settled(engine, client)
        await traffic.run(asked[warm:], concurrency, lambda: bar.advance(asking))
        after = await settled(engine, client)
        comparing = bar.add_task("asking alone", total=len(traffic.answered))
        alone.begin()
        apart = []
        for answered in sorted(traffic.answered, key=lambda each: each.found):
            apart.append((answered, await alone.difference(answered)))
            bar.advance(comparing)
    finally:
        await client.aclose()
    return {**figures(traffic.done, apart), "deleted_hits": traffic.deleted_hits, "warm": before, "end": after}


def figures(done: Mapping[str, int], apart: Sequence[tuple[Answered, float]]) -> dict[str, Any]:
    """Counts, hits by tier, misses by reason, and the largest difference of probabilities under each policy."""
    outcomes = [chunk for answered, _ in apart for chunk in answered.report.chunks]
    largest: dict[str, float] = {}
    for answered, difference in apart:
        policy = answered.turn.policy
        largest[policy] = max(largest.get(policy, 0.0), difference)
    return {
        "answered": len(apart),
        "aborted": done.get("aborted", 0),
        "preread": done.get("preread", 0),
        "deleted": done.get("deleted", 0),
        "hits": dict(Counter(chunk.tier for chunk in outcomes if chunk.tier)),
        "misses": dict(Counter(chunk.reason for chunk in outcomes if chunk.reason)),
        "largest_difference": max(largest.values(), default=None),
        "largest_by_policy": {policy: largest[policy] for policy in POLICIES if policy in largest},
    }


def checks(result: Mapping[str, Any]) -> dict[str, bool]:
    """What must hold, by name."""
    warm, end = result["warm"], result["end"]
    return {
        "answers_equal": result["largest_difference"] is not None and result["largest_difference"] <= result["bound"],
        "deleted_is_gone": result["deleted_hits"] == 0,
        "requests_gone": not any(end[name] for name in GAUGES),
        "staging_empty": not end["staged"],
        "memory_kept": end["rss_bytes"] - warm["rss_bytes"] <= MOST_GROWN,
    }


def _table(result: Mapping[str, Any]) -> Table:
    counts = f"{result['answered']} answered, {result['aborted']} broken off, seed {result['seed']}"
    title = f"{result['model']} ({result['dtype']}): {counts}"
    table = Table("", "", title=title, caption=result["machine"])
    for policy, difference in result["largest_by_policy"].items():
        table.add_row(f"largest difference, {policy}", f"{difference:.1e}")
    table.add_row("bound", f"{result['bound']:.1e}")
    for kind in ("hits", "misses"):
        table.add_row(kind, ", ".join(f"{count} {name}" for name, count in result[kind].items()) or "none")
    grown = result["end"]["rss_bytes"] - result["warm"]["rss_bytes"]
    table.add_row("engine memory", f"{result['end']['rss_bytes'] / 2**20:.0f} MiB, grown {grown / 2**20:+.0f} MiB")
    for name, holds in result["checks"].items():
        table.add_row(name.replace("_", " "), "yes" if holds else "NO")
    return table
