"""`preread bench ttft`: time to first token of each policy, paired with exact in one run."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from app.core.settings import get_settings
from benchmarks.bench_engine import BenchEngine, bench_engine
from benchmarks.corpus import HANDBOOK, pieces_of_text
from benchmarks.machine import provenance
from benchmarks.plots import check_plot, plot_lines
from benchmarks.sweep import at_fixed_fresh, slopes_of, token_counts
from benchmarks.timing import Case, measure, times
from benchmarks.ttft_table import slope_table, ttft_table
from benchmarks.variant import EXACT, Variant, policy_names
from generator.conditioning import Conditioning

QUESTION = "What does the handbook say about the working day?"
DEFAULT_POLICIES = "exact,alone:none,alone:hkvd@.15,none,head@16,impact"


def ttft(
    chunks: Annotated[int, typer.Option(min=1, help="Chunks in the prompt.")] = 6,
    chunk_tokens: Annotated[int, typer.Option(min=1, help="Tokens in each chunk.")] = 512,
    policies: Annotated[str, typer.Option(help="Comma-separated; exact is always measured.")] = DEFAULT_POLICIES,
    conditioning: Annotated[Conditioning, typer.Option(help="What later chunks are read behind.")] = Conditioning.OFF,
    context_tokens: Annotated[str, typer.Option(help="Context lengths to compare, such as 1024,2048,4096.")] = "",
    fresh_tokens: Annotated[int, typer.Option(min=1, help="Fresh tokens at every one of these lengths.")] = 256,
    rounds: Annotated[int, typer.Option(min=1, help="Measured rounds, each with every policy once.")] = 9,
    text: Annotated[Path, typer.Option(help="Folder of Markdown or text to cut chunks from.")] = HANDBOOK,
    plot: Annotated[Path | None, typer.Option(help="SVG file for TTFT against context length.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Time to first token, exact and fused, in an engine of its own.

    With --context-tokens at several lengths: policies with a share of fresh tokens then get the share that makes
    --fresh-tokens fresh at each, so that only what was reused grows.
    """
    settings = get_settings()
    check_plot(plot)
    names = policy_names(policies)
    lengths = token_counts(context_tokens) or [chunks * chunk_tokens]
    console = Console(stderr=True)
    console.print("starting an engine …")
    with bench_engine(settings) as engine, Progress(console=console) as progress:
        bar = progress.add_task("pre-reading", total=len(lengths))
        by_length = {}
        for length in lengths:
            fixed = at_fixed_fresh(names, length, fresh_tokens) if context_tokens else names
            by_length[length] = _cases(engine, text, length, chunk_tokens, fixed, conditioning)
            progress.advance(bar)
        cases = [case for each in by_length.values() for case in each]
        bar = progress.add_task("measuring", total=rounds + 1)
        answers = iter(measure(engine.client.url, cases, rounds, lambda: progress.advance(bar)))
    shared = {
        **provenance(settings.model, settings.effective_dtype),
        "chunk_tokens": chunk_tokens,
        "conditioning": conditioning,
        "rounds": rounds,
    }
    tables = []
    for length, mine in by_length.items():
        samples = {case.variant.policy: next(answers) for case in mine}
        tables.append(
            {
                "context_tokens": length,
                "chunks": -(-length // chunk_tokens),
                "prompt_tokens": len(mine[0].prompt.token_ids),
                "policies": {policy: times(each, samples[EXACT]) for policy, each in samples.items()},
            }
        )
    if not context_tokens:
        result = {**shared, **tables[0]}
    else:
        result = {**shared, "fresh_tokens": fresh_tokens, "lengths": tables, "slopes": slopes_of(names, tables)}
    if plot:
        _plot(plot, names, tables, shared["model"])
    if as_json:
        typer.echo(json.dumps(result))
        return
    for table in tables:
        Console().print(ttft_table({**shared, **table}))
    if context_tokens:
        Console().print(slope_table(result))


def _cases(
    engine: BenchEngine,
    text: Path,
    context_tokens: int,
    chunk_tokens: int,
    policies: Sequence[str],
    conditioning: Conditioning,
) -> list[Case]:
    """Pre-read the chunks of one context length; the requests to be timed with it."""
    pieces = pieces_of_text(engine.tokenizer, text, context_tokens, chunk_tokens)
    variants = [Variant(policy, conditioning) for policy in policies]
    for reading in {variant.reading for variant in variants}:
        engine.preread_fixed(len(pieces), reading)
        engine.preread(pieces, reading)
    return [Case(variant, engine.prompt(pieces, QUESTION, 2, conditioned=variant.conditioned)) for variant in variants]


def _plot(path: Path, names: Sequence[str], tables: Sequence[dict[str, Any]], model: str) -> None:
    lines = {
        name: [
            (table["context_tokens"], row["ttft_s"])
            for table in tables
            for row in [list(table["policies"].values())[place]]
        ]
        for place, name in enumerate(names)
    }
    plot_lines(path, lines, "context tokens", "median time to first token (s)", model)
