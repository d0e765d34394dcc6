"""`preread bench ttft`: time to first token of each policy, paired with exact in one run."""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median, quantiles
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from app.core.errors import BadInput
from app.core.ids import new_id
from app.core.settings import get_settings
from benchmarks.bench_engine import TENANT, BenchEngine, bench_engine
from benchmarks.corpus import HANDBOOK, chunks_of_text
from benchmarks.machine import provenance
from generator.engine import Delta, EngineClient, Sampling
from generator.fusion_request import FusionRequest
from generator.policy import parse_policy
from generator.prompt import Prompt, assemble
from generator.report import FusionReport

QUESTION = "What does the handbook say about the working day?"
_EXACT = "exact"


@dataclass(frozen=True)
class Sample:
    """One request: seconds to its first token, and the engine's report."""

    ttft_s: float
    report: FusionReport


def ttft(
    chunks: Annotated[int, typer.Option(min=1, help="Chunks in the prompt.")] = 6,
    chunk_tokens: Annotated[int, typer.Option(min=1, help="Tokens in each chunk.")] = 512,
    policies: Annotated[str, typer.Option(help="Comma-separated; exact is always measured.")] = "exact,none,head@16",
    rounds: Annotated[int, typer.Option(min=1, help="Measured rounds, each with every policy once.")] = 9,
    text: Annotated[Path, typer.Option(help="Folder of Markdown or text to cut chunks from.")] = HANDBOOK,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Time to first token, exact and fused, in an engine of its own."""
    settings = get_settings()
    names = policy_names(policies)
    console = Console(stderr=True)
    console.print("starting an engine …")
    with bench_engine(settings) as engine:
        pieces = chunks_of_text(engine.tokenizer, text, chunks, chunk_tokens)
        with Progress(console=console) as progress:
            bar = progress.add_task("pre-reading", total=1)
            engine.preread(pieces)
            progress.update(bar, completed=1)
            bar = progress.add_task("measuring", total=rounds + 1)
            samples = asyncio.run(_measure(engine, pieces, names, rounds, lambda: progress.advance(bar)))
        limit = engine.status.max_model_tokens
        prompt_tokens = len(_prompt(engine, pieces, limit).token_ids)
    result = {
        **provenance(settings.model),
        "chunks": chunks,
        "chunk_tokens": chunk_tokens,
        "prompt_tokens": prompt_tokens,
        "rounds": rounds,
        "policies": {name: summary(samples, name) for name in names},
    }
    if as_json:
        typer.echo(json.dumps(result))
    else:
        Console().print(_table(result))


def policy_names(policies: str) -> list[str]:
    names = [str(parse_policy(name)) for name in policies.split(",")]
    if len(set(names)) != len(names):
        raise BadInput(f"“{policies}” names a policy twice.", "Name each policy once.")
    return [_EXACT, *(name for name in names if name != _EXACT)]


def _prompt(engine: BenchEngine, pieces: Sequence[list[int]], limit: int) -> Prompt:
    return assemble(engine.tokenizer, engine.preamble, pieces, QUESTION, limit - 1)


async def _measure(
    engine: BenchEngine, pieces: Sequence[list[int]], names: Sequence[str], rounds: int, step: Callable[[], object]
) -> dict[str, list[Sample]]:
    """The first round warms up and is dropped; the order turns by one policy every round."""
    client = EngineClient(engine.client.url)
    prompt = _prompt(engine, pieces, engine.status.max_model_tokens)
    samples: dict[str, list[Sample]] = {name: [] for name in names}
    try:
        for number in range(rounds + 1):
            turn = number % len(names)
            for name in (*names[turn:], *names[:turn]):
                sample = await _ask(client, prompt, name)
                if number:
                    samples[name].append(sample)
            step()
    finally:
        await client.aclose()
    return samples


async def _ask(client: EngineClient, prompt: Prompt, policy: str) -> Sample:
    # A tenant of its own salts an exact request uniquely: nothing is found in vLLM's prefix cache.
    tenant = new_id("bench").replace("_", "-") if policy == _EXACT else TENANT
    request = FusionRequest(new_id("ask"), tenant, policy, prompt.segments)
    began = time.perf_counter()
    first: float | None = None
    async for event in client.generate(prompt.token_ids, request, Sampling(max_tokens=2)):
        if isinstance(event, Delta) and first is None:
            first = time.perf_counter() - began
    if first is None:
        raise BadInput(f"The model answered nothing under {policy}.", "Try another model or text.")
    return Sample(first, await client.report(request.request_id))


def summary(samples: dict[str, list[Sample]], name: str) -> dict[str, Any]:
    mine = samples[name]
    ratios = [exact.ttft_s / this.ttft_s for exact, this in zip(samples[_EXACT], mine, strict=True)]
    times = [sample.ttft_s for sample in mine]
    return {
        "ttft_s": median(times),
        "ttft_quartiles_s": _quartiles(times),
        "speedup": median(ratios),
        "speedup_quartiles": _quartiles(ratios),
        "load_s": median(sample.report.load_s for sample in mine),
        "select_s": median(sample.report.select_s for sample in mine),
        "recompute_s": median(sample.report.recompute_s for sample in mine),
        "effective_recompute": median(sample.report.effective_recompute or 0.0 for sample in mine),
        "not_fused": mine[0].report.not_fused,
        "n": len(mine),
    }


def _quartiles(values: Sequence[float]) -> list[float]:
    return [values[0], values[0]] if len(values) == 1 else quantiles(values, n=4)[::2]


def _table(result: dict[str, Any]) -> Table:
    title = f"{result['model']}: {result['prompt_tokens']} prompt tokens, median of {result['rounds']} rounds"
    columns = ("policy", "TTFT", "times sooner", "load", "select", "recompute", "fresh")
    table = Table(*columns, title=title, caption=result["machine"])
    for name, row in result["policies"].items():
        table.add_row(
            name,
            f"{row['ttft_s']:.3f} s",
            f"{row['speedup']:.1f}",
            f"{row['load_s'] * 1000:.0f} ms",
            f"{row['select_s'] * 1000:.0f} ms",
            f"{row['recompute_s'] * 1000:.0f} ms",
            f"{row['effective_recompute']:.1%}",
        )
    return table
