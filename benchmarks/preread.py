"""`preread bench preread`: what making the readings of chunks costs, relative to a bare prefill of the same chunks."""

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from app.core.settings import get_settings
from benchmarks.answer import ask
from benchmarks.bench_engine import BenchEngine, bench_engine
from benchmarks.context import Piece
from benchmarks.corpus import HANDBOOK, pieces_of_text
from benchmarks.machine import provenance
from benchmarks.tenants import own_tenant
from benchmarks.timing import quartiles
from benchmarks.variant import EXACT
from generator.conditioning import Conditioning
from generator.engine import EngineClient, Sampling
from generator.fusion_request import Segment, SegmentKind
from generator.prompt import Prompt


@dataclass(frozen=True)
class Sample:
    """Seconds of one round: a bare prefill, the readings staged by the engine, and until the store has them."""

    bare_s: float
    staged_s: float
    stored_s: float


def preread(
    chunks: Annotated[int, typer.Option(min=1, help="Chunks to read.")] = 6,
    chunk_tokens: Annotated[int, typer.Option(min=1, help="Tokens in each chunk.")] = 512,
    conditioning: Annotated[Conditioning, typer.Option(help="off: one reading.")] = Conditioning.NEUTRAL,
    rounds: Annotated[int, typer.Option(min=1, help="Measured rounds.")] = 5,
    text: Annotated[Path, typer.Option(help="Folder of Markdown or text to cut chunks from.")] = HANDBOOK,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Time of pre-reading chunks, as a multiple of one bare prefill of the same chunks, in an engine of its own."""
    settings = get_settings()
    console = Console(stderr=True)
    console.print("starting an engine …")
    with bench_engine(settings) as engine, Progress(console=console) as progress:
        pieces = pieces_of_text(engine.tokenizer, text, chunks * chunk_tokens, chunk_tokens)
        engine.preread_fixed(1, conditioning)
        bar = progress.add_task("reading", total=rounds + 1)
        samples: list[Sample] = []
        for number in range(rounds + 1):
            sample = _read(engine, pieces, conditioning)
            if number:
                samples.append(sample)
            progress.advance(bar)
    result = {
        **provenance(settings.model, settings.effective_dtype),
        "chunks": chunks,
        "chunk_tokens": chunk_tokens,
        "conditioning": conditioning,
        "rounds": rounds,
        **figures(samples),
    }
    if as_json:
        typer.echo(json.dumps(result))
    else:
        Console().print(_table(result))


async def _prefill(engine: BenchEngine, pieces: Sequence[Piece]) -> float:
    """Seconds to prefill the chunks alone, one after the other, exactly and with nothing cached."""
    client = EngineClient(engine.client.url)
    seconds = 0.0
    try:
        for piece in pieces:
            prompt = Prompt(list(piece.ids), (Segment(0, len(piece.ids), SegmentKind.CHUNK),))
            seconds += (await ask(client, prompt, EXACT, own_tenant(), Sampling(max_tokens=1))).ttft_s
    finally:
        await client.aclose()
    return seconds


def _read(engine: BenchEngine, pieces: Sequence[Piece], conditioning: Conditioning) -> Sample:
    bare = asyncio.run(_prefill(engine, pieces))
    before, began = engine.client.preread_s, time.perf_counter()
    engine.preread_both(pieces, conditioning)
    return Sample(bare, engine.client.preread_s - before, time.perf_counter() - began)


def figures(samples: Sequence[Sample]) -> dict[str, Any]:
    """Medians over rounds; the multiples are of bare prefill within each round."""
    staged = [sample.staged_s / sample.bare_s for sample in samples]
    stored = [sample.stored_s / sample.bare_s for sample in samples]
    return {
        "bare_s": median(sample.bare_s for sample in samples),
        "staged_s": median(sample.staged_s for sample in samples),
        "staged_times_bare": median(staged),
        "staged_quartiles": quartiles(staged),
        "stored_s": median(sample.stored_s for sample in samples),
        "stored_times_bare": median(stored),
        "stored_quartiles": quartiles(stored),
        "n": len(samples),
    }


def _table(result: dict[str, Any]) -> Table:
    title = (
        f"{result['model']} ({result['dtype']}): {result['chunks']} x {result['chunk_tokens']} tokens, conditioning "
        f"{result['conditioning']}, median of {result['n']} rounds"
    )
    table = Table("", "seconds", "of bare prefill", title=title, caption=result["machine"])
    table.add_row("bare prefill of the chunks", f"{result['bare_s']:.2f}", "1.00")
    table.add_row("read and staged", f"{result['staged_s']:.2f}", f"{result['staged_times_bare']:.2f}")
    table.add_row("compressed and stored too", f"{result['stored_s']:.2f}", f"{result['stored_times_bare']:.2f}")
    return table
