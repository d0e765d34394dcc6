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
    """Seconds of one round: a bare prefill of the chunks, and until the store has so many readings of each."""

    bare_s: float
    stored_s: float
    readings: int


def preread(
    chunks: Annotated[int, typer.Option(min=1, help="Chunks to read.")] = 6,
    chunk_tokens: Annotated[int, typer.Option(min=1, help="Tokens in each chunk.")] = 512,
    conditioning: Annotated[Conditioning, typer.Option(help="off: one reading.")] = Conditioning.NEUTRAL,
    rounds: Annotated[int, typer.Option(min=1, help="Measured rounds.")] = 5,
    in_flight: Annotated[
        int, typer.Option("--in-flight", min=0, help="Readings under way at once; 0: as many as are set.")
    ] = 0,
    step_tokens: Annotated[
        int, typer.Option("--step-tokens", min=0, help="Most tokens of a step; 0: all it holds, as with nobody asking.")
    ] = 0,
    text: Annotated[Path, typer.Option(help="Folder of Markdown or text to cut chunks from.")] = HANDBOOK,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Time of pre-reading chunks, as a multiple of one bare prefill of the same chunks, in an engine of its own."""
    settings = get_settings()
    # The bare prefills would count as questions, beside which steps are cut small.
    step = step_tokens or settings.max_batched_tokens
    settings = settings.model_copy(update={"reading_step_tokens": step})
    most = in_flight or settings.readings_in_flight
    console = Console(stderr=True)
    console.print("starting an engine …")
    with bench_engine(settings) as engine, Progress(console=console) as progress:
        pieces = pieces_of_text(engine.tokenizer, text, chunks * chunk_tokens, chunk_tokens)
        engine.preread_fixed(1, conditioning)
        bar = progress.add_task("reading", total=rounds + 1)
        samples: list[Sample] = []
        for number in range(rounds + 1):
            sample = _read(engine, pieces, conditioning, most)
            if number:
                samples.append(sample)
            progress.advance(bar)
    result = {
        **provenance(settings.model, settings.effective_dtype),
        "chunks": chunks,
        "chunk_tokens": chunk_tokens,
        "conditioning": conditioning,
        "rounds": rounds,
        "in_flight": most,
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


def _read(engine: BenchEngine, pieces: Sequence[Piece], conditioning: Conditioning, in_flight: int) -> Sample:
    bare = asyncio.run(_prefill(engine, pieces))
    began = time.perf_counter()
    made = engine.preread_both(pieces, conditioning, in_flight)
    return Sample(bare, time.perf_counter() - began, made // len(pieces))


def figures(samples: Sequence[Sample]) -> dict[str, Any]:
    """Medians over rounds; multiples are of bare prefill within each round.

    `speed_of_bare`: tokens a second of each reading, as a share of bare prefill's.
    """
    stored = [sample.stored_s / sample.bare_s for sample in samples]
    speeds = [sample.bare_s * sample.readings / sample.stored_s for sample in samples]
    return {
        "readings": samples[0].readings,
        "bare_s": median(sample.bare_s for sample in samples),
        "stored_s": median(sample.stored_s for sample in samples),
        "stored_times_bare": median(stored),
        "stored_quartiles": quartiles(stored),
        "speed_of_bare": median(speeds),
        "speed_quartiles": quartiles(speeds),
        "n": len(samples),
    }


def _table(result: dict[str, Any]) -> Table:
    title = (
        f"{result['model']} ({result['dtype']}): {result['chunks']} x {result['chunk_tokens']} tokens, conditioning "
        f"{result['conditioning']}, {result['in_flight']} in flight, median of {result['n']} rounds"
    )
    table = Table("", "seconds", "times bare", "speed of each reading", title=title, caption=result["machine"])
    table.add_row("bare prefill of the chunks", f"{result['bare_s']:.2f}", "1.00", "100%")
    table.add_row(
        f"{result['readings']} readings of each, computed, compressed and stored",
        f"{result['stored_s']:.2f}",
        f"{result['stored_times_bare']:.2f}",
        f"{result['speed_of_bare']:.0%}",
    )
    return table
