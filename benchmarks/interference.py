"""`preread bench interference`: what a question waits longer for while the same engine pre-reads."""

import asyncio
import json
import random
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from threading import Event, Thread
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
from benchmarks.tenants import own_tenant, tenant_of
from benchmarks.timing import quartiles
from benchmarks.ttft import QUESTION
from benchmarks.variant import EXACT, Variant
from generator.conditioning import Conditioning
from generator.engine import EngineClient, Sampling
from generator.in_force import effective_policy

_LONGEST_PAUSE_SECONDS = 0.7
_READ_AT_A_TIME = 2


@dataclass(frozen=True)
class Round:
    """Seconds to the first token of as many questions with nothing else going on, and while chunks are read."""

    idle_s: tuple[float, ...]
    beside_s: tuple[float, ...]
    readings_a_second: float


def interference(
    policy: Annotated[str, typer.Option(help="Of the questions; empty: the one in force for the model.")] = "",
    chunks: Annotated[int, typer.Option(min=1, help="Chunks in a question's prompt.")] = 3,
    chunk_tokens: Annotated[int, typer.Option(min=1, help="Tokens in each chunk.")] = 512,
    conditioning: Annotated[Conditioning, typer.Option(help="off: one reading.")] = Conditioning.NEUTRAL,
    questions: Annotated[int, typer.Option(min=1, help="Questions in each half of a round.")] = 8,
    answer_tokens: Annotated[int, typer.Option(min=1, help="Tokens of each answer.")] = 8,
    rounds: Annotated[int, typer.Option(min=1, help="Measured rounds.")] = 5,
    step_tokens: Annotated[int, typer.Option(min=0, help="Most tokens read in one step; 0: as set.")] = 0,
    text: Annotated[Path, typer.Option(help="Folder of Markdown or text to cut chunks from.")] = HANDBOOK,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Time to first token idle and during pre-reading, half of each round, in an engine of its own."""
    settings = get_settings()
    step = step_tokens or settings.reading_step_tokens
    settings = settings.model_copy(update={"reading_step_tokens": step})
    console = Console(stderr=True)
    console.print("starting an engine …")
    with bench_engine(settings) as engine, Progress(console=console) as progress:
        variant = Variant(policy or effective_policy(settings, engine.status.fingerprint), conditioning)
        pieces = pieces_of_text(engine.tokenizer, text, (chunks + 4) * chunk_tokens, chunk_tokens)
        asked, read = pieces[:chunks], pieces[chunks:]
        engine.preread_fixed(chunks, conditioning)
        engine.preread(asked, conditioning)
        bar = progress.add_task("measuring", total=rounds + 1)
        measured: list[Round] = []
        for number in range(rounds + 1):
            one = _round(engine, asked, read, variant, questions, answer_tokens, settings.readings_in_flight)
            if number:
                measured.append(one)
            progress.advance(bar)
    result = {
        **provenance(settings.model, settings.effective_dtype),
        "policy": variant.policy,
        "chunks": chunks,
        "chunk_tokens": chunk_tokens,
        "conditioning": conditioning,
        "step_tokens": step,
        "in_flight": settings.readings_in_flight,
        **figures(measured),
    }
    if as_json:
        typer.echo(json.dumps(result))
    else:
        Console().print(_table(result))


def figures(rounds: Sequence[Round]) -> dict[str, Any]:
    """Medians over all questions; `times_idle` is the median over rounds of one round's medians' ratio."""
    ratios = [median(each.beside_s) / median(each.idle_s) for each in rounds]
    return {
        "idle_ttft_s": median(seconds for each in rounds for seconds in each.idle_s),
        "beside_ttft_s": median(seconds for each in rounds for seconds in each.beside_s),
        "beside_longest_s": max(seconds for each in rounds for seconds in each.beside_s),
        "times_idle": median(ratios),
        "times_idle_quartiles": quartiles(ratios),
        "readings_a_second": median(each.readings_a_second for each in rounds),
        "n": sum(len(each.beside_s) for each in rounds),
        "rounds": len(rounds),
    }


def _round(
    engine: BenchEngine,
    asked: Sequence[Piece],
    read: Sequence[Piece],
    variant: Variant,
    questions: int,
    answer_tokens: int,
    in_flight: int,
) -> Round:
    idle = asyncio.run(_ask_often(engine, asked, variant, questions, answer_tokens))
    began = time.perf_counter()
    with _reading(engine, read, variant.conditioning, in_flight) as made:
        beside = asyncio.run(_ask_often(engine, asked, variant, questions, answer_tokens))
        took = time.perf_counter() - began
        count = sum(made)
    return Round(idle, beside, count / took)


async def _ask_often(
    engine: BenchEngine, pieces: Sequence[Piece], variant: Variant, questions: int, answer_tokens: int
) -> tuple[float, ...]:
    """Questions one after the other, after pauses of many lengths, so that they meet steps at every stage."""
    client = EngineClient(engine.client.url)
    pauses = random.Random(questions)  # noqa: S311  (nothing secret)
    prompt = engine.prompt(pieces, QUESTION, answer_tokens, conditioned=variant.conditioned)
    seconds = []
    try:
        for _ in range(questions):
            await asyncio.sleep(pauses.uniform(0, _LONGEST_PAUSE_SECONDS))
            tenant = own_tenant() if variant.policy == EXACT else tenant_of(variant.reading)
            seconds.append((await ask(client, prompt, variant.policy, tenant, Sampling(answer_tokens))).ttft_s)
    finally:
        await client.aclose()
    return tuple(seconds)


@contextmanager
def _reading(
    engine: BenchEngine, pieces: Sequence[Piece], conditioning: Conditioning, in_flight: int
) -> Iterator[list[int]]:
    """Pre-read these chunks again and again, as a worker does; yields how many readings were made each time."""
    enough, begun = Event(), Event()
    made: list[int] = []

    def read_on() -> None:
        while not enough.is_set():
            begun.set()
            made.append(engine.preread_both(pieces[:_READ_AT_A_TIME], conditioning, in_flight))

    thread = Thread(target=read_on, name="reading")
    thread.start()
    begun.wait()
    try:
        yield made
    finally:
        enough.set()
        thread.join()


def _table(result: dict[str, Any]) -> Table:
    title = (
        f"{result['model']} ({result['dtype']}): {result['policy']} over {result['chunks']} x "
        f"{result['chunk_tokens']} tokens, n = {result['n']} questions in {result['rounds']} rounds"
    )
    table = Table("", "median to first token", "times idle", title=title, caption=result["machine"])
    table.add_row("nothing else", f"{result['idle_ttft_s']:.3f} s", "1.00")
    table.add_row(
        f"while {result['readings_a_second']:.1f} readings a second are made",
        f"{result['beside_ttft_s']:.3f} s",
        f"{result['times_idle']:.2f}",
    )
    return table
