"""`preread bench lab`: dense experiments on what decides the quality of reused chunk KV."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from app.core.settings import get_settings
from benchmarks.lab.data import load_questions
from benchmarks.lab.dense import DenseModel
from benchmarks.lab.passage import parse_passage
from benchmarks.lab.places import mean_places
from benchmarks.lab.study import Shape, Study, summary
from benchmarks.lab.variant import parse_variant
from benchmarks.machine import provenance
from generator.chat import ModelTokenizer
from generator.model_source import resolve_model
from generator.preamble import build_preamble

BASELINE = "alone:hkvd@.15"
_DEFAULT = f"alone:none,{BASELINE},alone:impact@.15,town:none,town:impact@.15"


def lab(
    data: Annotated[Path, typer.Option(help="Folder that holds the data sets.")],
    name: Annotated[str, typer.Option("--set", help="xquad, musique or hotpotqa.")] = "xquad",
    chunk_tokens: Annotated[int, typer.Option(min=0, help="Most tokens in a chunk; 0: each passage is one.")] = 0,
    context_tokens: Annotated[int, typer.Option(min=64, help="About how many tokens the chunks have together.")] = 1024,
    n: Annotated[int, typer.Option(min=1, help="Questions.")] = 20,
    variants: Annotated[str, typer.Option(help="Comma-separated, READING:SELECTOR[@AMOUNT][+OPTION].")] = _DEFAULT,
    seed: Annotated[int, typer.Option(help="Draws questions, distractors and orders.")] = 0,
    steps: Annotated[int, typer.Option(min=1, help="Tokens of the exact answer that are forced.")] = 32,
    threads: Annotated[int, typer.Option(min=0, help="CPU threads; 0: all cores.")] = 0,
    places: Annotated[bool, typer.Option(help="Measure also where in a chunk each reading is wrong.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """How close answers over reused chunk KV come to the exact ones, in float32, without an engine."""
    settings = get_settings()
    wanted = [parse_variant(text) for text in variants.split(",")]
    for variant in wanted:
        parse_passage(variant.reading)
    questions = load_questions(data, name, n, seed)
    if threads:
        torch.set_num_threads(threads)
    folder = resolve_model(settings)
    tokenizer = ModelTokenizer(folder)
    preamble = build_preamble(tokenizer, settings)
    shape = Shape(chunk_tokens, context_tokens, steps, seed, places)
    study = Study(DenseModel.load(folder), tokenizer, preamble, shape)
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("measuring", total=len(questions) * len(wanted))
        outcomes, sizes = study.run(questions, wanted, lambda: progress.advance(bar))
    baseline = outcomes.get(BASELINE)
    result = {
        **provenance(settings.model, "float32"),
        "set": name,
        "chunk_tokens": chunk_tokens,
        "context_tokens": sizes.context_tokens,
        "chunks": sizes.chunks,
        "n": n,
        "steps": steps,
        "variants": {text: summary(rows, baseline) for text, rows in outcomes.items()},
    }
    if places:
        means = {reading: mean_places(several) for reading, several in study.places.items()}
        result["places"] = {reading: [asdict(place) for place in found] for reading, found in means.items()}
    if as_json:
        typer.echo(json.dumps(result))
        return
    Console().print(_table(result))
    if places:
        Console().print(_places_table(result["places"]))


def _table(result: dict[str, Any]) -> Table:
    title = (
        f"{result['model']} ({result['dtype']}), {result['set']}: {result['chunks']:.1f} chunks, "
        f"{result['context_tokens']:.0f} context tokens, n = {result['n']}"
    )
    columns = ("variant", "KL first", "95 %", f"of {BASELINE}", "KL mean", "agreement", "identical", "fresh", "runs")
    table = Table(*columns, title=title, caption=result["machine"])
    for text, row in result["variants"].items():
        low, high = row["kl_first_interval"]
        ratio = row.get("kl_first_ratio")
        table.add_row(
            text,
            f"{row['kl_first']:.4f}",
            f"{low:.4f} to {high:.4f}",
            "" if ratio is None else f"{ratio:.2f}",
            f"{row['kl_mean']:.4f}",
            f"{row['agreement']:.2f}",
            f"{row['identical']:.2f}",
            f"{row['fresh']:.3f}",
            f"{row['runs']:.0f}",
        )
    return table


def _places_table(found: dict[str, list[dict[str, Any]]]) -> Table:
    columns = ("reading", "tokens from", "keys moved", "values moved", "looked at, exact", "reused")
    table = Table(
        *columns, title="Tokens by distance from the start of their chunk, chunks after the first; -1: the numbers"
    )
    for reading, rows in found.items():
        for row in rows:
            figures = (row["moved_keys"], row["moved_values"], row["seen_exact"], row["seen_reused"])
            table.add_row(reading, str(row["start"]), *(f"{figure:.4f}" for figure in figures))
    return table
