"""`preread bench beside`: what a running answer waits for while other questions arrive, fused or prefilled exactly."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from statistics import mean
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from app.core.ids import new_id
from app.core.settings import get_settings
from benchmarks.answer import ask
from benchmarks.bench_engine import BenchEngine, bench_engine
from benchmarks.context import Piece
from benchmarks.corpus import HANDBOOK, pieces_of_text
from benchmarks.machine import provenance
from benchmarks.tenants import own_tenant, tenant_of
from benchmarks.ttft import QUESTION
from benchmarks.variant import EXACT, Variant, policy_names
from generator.conditioning import Conditioning
from generator.engine import Delta, EngineClient, Sampling
from generator.fusion_request import FusionRequest
from generator.prompt import Prompt

ALONE = "nobody"
_STORY = "Tell a long story about a day at work, with every hour of it."


def beside(
    policies: Annotated[str, typer.Option(help="Comma-separated; exact is always measured.")] = "exact,none,impact@.08",
    chunks: Annotated[int, typer.Option(min=1, help="Chunks in the prompts that arrive.")] = 6,
    chunk_tokens: Annotated[int, typer.Option(min=1, help="Tokens in each chunk.")] = 512,
    conditioning: Annotated[Conditioning, typer.Option(help="What later chunks are read behind.")] = Conditioning.OFF,
    questions: Annotated[int, typer.Option(min=1, help="Questions that arrive, one after the other.")] = 5,
    text: Annotated[Path, typer.Option(help="Folder of Markdown or text to cut chunks from.")] = HANDBOOK,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Time between the tokens of an answer while others' questions arrive, in an engine of its own."""
    settings = get_settings()
    names = policy_names(policies)
    console = Console(stderr=True)
    console.print("starting an engine …")
    with bench_engine(settings) as engine, Progress(console=console) as progress:
        pieces = pieces_of_text(engine.tokenizer, text, chunks * chunk_tokens, chunk_tokens)
        variants = [Variant(name, conditioning) for name in names]
        for reading in {variant.reading for variant in variants}:
            engine.preread_fixed(len(pieces), reading)
            engine.preread(pieces, reading)
        bar = progress.add_task("measuring", total=len(variants) + 1)
        gaps = asyncio.run(_measure(engine, pieces, variants, questions, lambda: progress.advance(bar)))
    result = {
        **provenance(settings.model, settings.effective_dtype),
        "chunks": chunks,
        "chunk_tokens": chunk_tokens,
        "conditioning": conditioning,
        "questions": questions,
        "arriving": {name: gap_figures(found) for name, found in gaps.items()},
    }
    if as_json:
        typer.echo(json.dumps(result))
    else:
        Console().print(_table(result))


async def _measure(
    engine: BenchEngine,
    pieces: Sequence[Piece],
    variants: Sequence[Variant],
    questions: int,
    step: Callable[[], object],
) -> dict[str, list[float]]:
    """By what arrives: the seconds between a running answer's tokens."""
    client = EngineClient(engine.client.url)
    found: dict[str, list[float]] = {}
    try:
        for variant in variants:
            # Once unmeasured, so that the chunk KV is in the engine's memory.
            await _arrive(client, engine, pieces, variant)
        async with _story(client, engine) as gaps:
            await gaps.until(40)
            found[ALONE] = list(gaps.seconds)
        step()
        for variant in variants:
            async with _story(client, engine) as gaps:
                await gaps.until(3)
                begun = len(gaps.seconds)
                for _ in range(questions):
                    await _arrive(client, engine, pieces, variant)
                found[variant.policy] = gaps.seconds[begun:]
            step()
    finally:
        await client.aclose()
    return found


class _Gaps:
    """The seconds between an answer's tokens so far."""

    def __init__(self) -> None:
        self.seconds: list[float] = []
        self._grown = asyncio.Event()

    def add(self, seconds: float) -> None:
        self.seconds.append(seconds)
        self._grown.set()

    async def until(self, count: int) -> None:
        while len(self.seconds) < count:
            self._grown.clear()
            await self._grown.wait()


@asynccontextmanager
async def _story(client: EngineClient, engine: BenchEngine) -> AsyncIterator[_Gaps]:
    """An answer that goes on, begun again when it ends."""
    gaps = _Gaps()
    prompt = engine.prompt([], _STORY, 1000)
    telling = asyncio.create_task(_tell(client, prompt, gaps))
    try:
        yield gaps
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


async def _tell(client: EngineClient, prompt: Prompt, gaps: _Gaps) -> None:
    while True:
        request = FusionRequest(new_id("ask"), own_tenant(), EXACT, prompt.segments)
        last: float | None = None
        async with aclosing(client.generate(prompt.token_ids, request, Sampling(1000, temperature=1.0))) as story:
            async for event in story:
                if isinstance(event, Delta):
                    now = time.perf_counter()
                    if last is not None:
                        gaps.add(now - last)
                    last = now


async def _arrive(client: EngineClient, engine: BenchEngine, pieces: Sequence[Piece], variant: Variant) -> None:
    prompt = engine.prompt(pieces, QUESTION, 2, conditioned=variant.conditioned)
    tenant = own_tenant() if variant.policy == EXACT else tenant_of(variant.reading)
    await ask(client, prompt, variant.policy, tenant, Sampling(max_tokens=2))


def gap_figures(gaps: Sequence[float]) -> dict[str, Any]:
    """Seconds between tokens. `longest_s`: the mean of the longest twentieth, at least of one."""
    ordered = sorted(gaps)
    tail = ordered[-max(len(ordered) // 20, 1) :]
    return {"p50_s": ordered[len(ordered) // 2], "longest_s": mean(tail), "max_s": ordered[-1], "n": len(ordered)}


def _table(result: dict[str, Any]) -> Table:
    title = f"{result['model']} ({result['dtype']}): an answer's tokens while {result['questions']} questions arrive"
    table = Table("arriving", "median gap", "longest twentieth", "longest", "tokens", title=title)
    for name, row in result["arriving"].items():
        table.add_row(
            name, f"{row['p50_s'] * 1000:.0f} ms", f"{row['longest_s']:.2f} s", f"{row['max_s']:.2f} s", str(row["n"])
        )
    return table
