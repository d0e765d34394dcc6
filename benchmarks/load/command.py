"""`preread bench load`: what web adds to an answer under load, what it holds, and how much an engine serves."""

import asyncio
import json
import resource
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from enum import StrEnum
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from app.core.errors import BadInput
from app.core.settings import Settings, get_settings
from benchmarks.bench_engine import bench_engine
from benchmarks.corpus import HANDBOOK, pieces_of_text
from benchmarks.load.client import Heard, LoadClient
from benchmarks.load.compare import Course, Race
from benchmarks.load.figures import answers, memory
from benchmarks.load.streams import open_streams
from benchmarks.load.table import compare_table, load_table
from benchmarks.load.traffic import arrivals, arriving
from benchmarks.load.web import MeasuredWeb, StubEngine, fill, measured_web, own_settings, stub_engine
from benchmarks.machine import provenance
from benchmarks.variant import EXACT, Variant
from generator.in_force import effective_conditioning, effective_policy

QUESTIONS = HANDBOOK.parent / "questions.json"

_SAMPLE_SECONDS = 0.5
_POOL_CHUNKS = 4


class EngineKind(StrEnum):
    STUB = "stub"
    REAL = "real"


def load(
    rps: Annotated[float, typer.Option(min=0.01, help="Questions a second.")] = 50.0,
    duration: Annotated[float, typer.Option(min=0.1, help="Seconds for which they come.")] = 30.0,
    seed: Annotated[int, typer.Option(help="When they come, and which, depends on it.")] = 0,
    streams: Annotated[int, typer.Option(min=0, help="Streams to hold open at once afterwards.")] = 0,
    engine: Annotated[
        EngineKind, typer.Option(help="stub: one that answers at once; real: the configured model's.")
    ] = EngineKind.STUB,
    compare: Annotated[bool, typer.Option("--compare", help="Fused against exact, in one real engine.")] = False,
    ttft_ms: Annotated[
        float, typer.Option(min=0, help="With --compare: when 95 % have the first word; 0: twice exact's time alone.")
    ] = 0.0,
    policy: Annotated[str, typer.Option(help="With --compare; empty: the one in force for the model.")] = "",
    chunks: Annotated[int, typer.Option(min=1, help="With --compare: chunks of a question.")] = 6,
    chunk_tokens: Annotated[int, typer.Option(min=1, help="With --compare: tokens of each.")] = 512,
    questions: Annotated[int, typer.Option(min=2, help="With --compare: questions at each rate.")] = 40,
    answer_tokens: Annotated[int, typer.Option(min=1, help="With --compare: tokens of an answer.")] = 8,
    pages: Annotated[Path, typer.Option(help="Folder of Markdown that is the library.")] = HANDBOOK,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Times, statuses and memory of a web process of its own while questions come at random, each whenever it comes.

    With --compare: the highest rate of questions at which an engine of its own has the first word in time for 95 %.
    """
    settings = get_settings()
    console = Console(stderr=True)
    result: dict[str, Any] = provenance(settings.model, settings.effective_dtype)
    if compare:
        with Progress(console=console) as progress:
            course = Course(chunks, chunk_tokens, questions, answer_tokens, seed)
            result |= _compare(settings, pages, policy, course, ttft_ms, progress)
        table = compare_table
    else:
        if streams and engine is not EngineKind.STUB:
            raise BadInput("Only the stub holds streams open.", "Leave out --streams, or --engine real.")
        _allow_many_connections()
        console.print("reading the library in …")
        result |= {"engine": engine, "rps": rps, "duration_s": duration, "seed": seed}
        result |= _through_web(settings, pages, rps, duration, seed, streams, real=engine is EngineKind.REAL)
        table = load_table
    if as_json:
        typer.echo(json.dumps(result))
    else:
        Console().print(table(result))


def _through_web(
    settings: Settings, pages: Path, rps: float, duration: float, seed: int, streams: int, *, real: bool
) -> dict[str, Any]:
    asked = [each["question"] for each in json.loads(QUESTIONS.read_text())]
    with TemporaryDirectory(prefix="preread-load-") as folder:
        state = Path(folder)
        if real:
            with bench_engine(settings) as engine:
                own = own_settings(engine.settings, engine.settings.state_dir, engine_url=engine.client.url)
                fill(own, pages, pre_read=True)
                with measured_web(own) as web:
                    return asyncio.run(_measure(web, None, asked, rps, duration, seed, 0))
        with stub_engine(state / "log") as stub:
            places = max(settings.answers_at_once, streams)
            own = own_settings(settings, state, engine_url=stub.url, answers_at_once=places)
            fill(own, pages, pre_read=False)
            with measured_web(own) as web:
                return asyncio.run(_measure(web, stub, asked, rps, duration, seed, streams))


async def _measure(
    web: MeasuredWeb,
    stub: StubEngine | None,
    asked: Sequence[str],
    rps: float,
    duration: float,
    seed: int,
    streams: int,
) -> dict[str, Any]:
    """Every question is asked once before anything is measured; those that the library has nothing on are left out."""
    client = LoadClient(web.url, web.headers)
    ended: list[Heard] = []
    samples: list[tuple[int, int]] = []
    known: list[str] = []

    async def ask(number: int, due: float) -> None:
        ended.append(await client.ask(known[(seed + number) % len(known)], due))

    async def sample() -> None:
        while True:
            samples.append((len(ended), web.held_bytes))
            await asyncio.sleep(_SAMPLE_SECONDS)

    try:
        warming = [await client.ask(question, time.perf_counter()) for question in asked]
        reached = stub.seconds if stub else {heard.request_id: heard.total_s for heard in warming}
        known += [question for question, heard in zip(asked, warming, strict=True) if heard.request_id in reached]
        sampling = asyncio.create_task(sample())
        await arriving(takewhile(lambda moment: moment < duration, arrivals(rps, seed)), ask)
        sampling.cancel()
        with suppress(asyncio.CancelledError):
            await sampling
        samples.append((len(ended), web.held_bytes))
        result = {**answers(ended, stub.seconds if stub else {}), "memory": memory(samples)}
        if stub and streams:
            result["streams"] = await open_streams(client, web, stub, known, streams)
    finally:
        await client.aclose()
    return result


def _compare(
    settings: Settings,
    pages: Path,
    policy: str,
    course: Course,
    ttft_ms: float,
    progress: Progress,
) -> dict[str, Any]:
    with bench_engine(settings) as engine:
        fingerprint = engine.status.fingerprint
        named = policy or effective_policy(settings, fingerprint)
        if named == EXACT:
            raise BadInput("There is nothing to compare exact with.", "Name another policy with --policy.")
        fused = Variant(named, effective_conditioning(settings, fingerprint))
        pool_tokens = _POOL_CHUNKS * course.chunks * course.chunk_tokens
        pool = pieces_of_text(engine.tokenizer, pages, pool_tokens, course.chunk_tokens)
        engine.preread_fixed(course.chunks, fused.reading)
        engine.preread_both(pool, fused.reading, settings.readings_in_flight)
        bar = progress.add_task("trying rates", total=None)
        race = Race(engine, pool, course)
        found = asyncio.run(race.run(fused, ttft_ms / 1000, lambda: progress.advance(bar)))
    return {"engine": "real", **asdict(course), "conditioning": fused.conditioning, "compare": found}


def _allow_many_connections() -> None:
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
