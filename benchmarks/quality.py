"""`preread bench quality`: how close fused answers come to the exact ones, on real questions."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import mean as average
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from app.core.errors import BadInput
from app.core.settings import get_settings
from benchmarks import prefix_cache, released
from benchmarks.bench_engine import bench_engine
from benchmarks.context import Asked, in_context
from benchmarks.datasets import QuestionSet, load_questions
from benchmarks.examination import examine_all
from benchmarks.examiner import STEPS, Examined
from benchmarks.interval import Interval
from benchmarks.machine import provenance
from benchmarks.plots import check_plot, plot_points
from benchmarks.quality_table import quality_table
from benchmarks.rising import rises
from benchmarks.variant import EXACT, Variant, policy_names
from benchmarks.verdict import Verdict
from benchmarks.verdicts import cost, mean, normalised_f1
from benchmarks.verdicts import quality as quality_of
from generator.conditioning import Conditioning
from generator.model_source import resolve_model

_BASELINES = f"{prefix_cache.NAME},{released.NAME}"
DEFAULT_POLICIES = "exact,alone:none,alone:hkvd@.15,none,head@16,impact@.08,impact@.15"


def quality(
    data: Annotated[Path, typer.Option(help="Folder of the question set.")],
    name: Annotated[QuestionSet, typer.Option("--set", help="Which question set it is.")],
    n: Annotated[int, typer.Option(min=1, help="Questions: the first usable ones of the set.")] = 50,
    policies: Annotated[str, typer.Option(help="Comma-separated; exact is always measured.")] = DEFAULT_POLICIES,
    chunks: Annotated[int, typer.Option(min=1, help="Chunks in the prompt.")] = 6,
    chunk_tokens: Annotated[int, typer.Option(min=32, help="Most tokens in a chunk.")] = 640,
    joined: Annotated[bool, typer.Option("--joined", help="Join passages before cutting: full chunks.")] = False,
    conditioning: Annotated[Conditioning, typer.Option(help="What later chunks are read behind.")] = Conditioning.OFF,
    answer_tokens: Annotated[int, typer.Option(min=1, help="Longest answer.")] = 64,
    baselines: Annotated[str, typer.Option(help="Comma-separated, of those from outside; may be empty.")] = _BASELINES,
    plot: Annotated[Path | None, typer.Option(help="SVG file for TTFT against divergence.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Fused answers against exact ones, question by question, in an engine of its own."""
    settings = get_settings()
    variants = [Variant(policy, conditioning) for policy in policy_names(policies)]
    check_plot(plot)
    outside = baseline_names(baselines)
    questions = load_questions(name, data)[:n]
    console = Console(stderr=True)
    console.print("starting an engine …")
    with bench_engine(settings, traced=True) as engine, Progress(console=console) as progress:
        asked = [in_context(each, engine.tokenizer, chunks, chunk_tokens, joined=joined) for each in questions]
        bar = progress.add_task("asking", total=len(asked))
        found = examine_all(engine, asked, variants, answer_tokens, lambda: progress.advance(bar))
        rows = {}
        if prefix_cache.NAME in outside:
            bar = progress.add_task(prefix_cache.NAME, total=len(asked))
            rows[prefix_cache.NAME] = prefix_cache.ask_shuffled(engine, asked, lambda: progress.advance(bar))
    if released.NAME in outside:
        dense = released.Released(resolve_model(settings), engine.tokenizer, engine.preamble, answer_tokens)
        with Progress(console=console) as progress:
            bar = progress.add_task(released.NAME, total=len(asked))
            rows[released.NAME] = dense.ask_all(asked, lambda: progress.advance(bar))
    result = {
        **provenance(settings.model, settings.effective_dtype),
        "set": name,
        "data": str(data),
        "chunk_tokens": chunk_tokens,
        "joined": joined,
        "conditioning": conditioning,
        "steps": STEPS,
        **context(asked),
        **report(found, variants),
        "baselines": rows,
    }
    if plot:
        plot_quality(plot, result)
    if as_json:
        typer.echo(json.dumps(result))
    else:
        Console().print(quality_table(result))


def baseline_names(text: str) -> list[str]:
    """Raises BadInput for one that there is not."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    for name in names:
        if name not in (prefix_cache.NAME, released.NAME):
            raise BadInput(f"“{name}” is no baseline.", f"Choose from {_BASELINES}.")
    return names


def context(asked: Sequence[Asked]) -> dict[str, Any]:
    """How many questions there are and how long their contexts, on average."""
    return {
        "n": len(asked),
        "chunks": average(len(each.pieces) for each in asked),
        "context_tokens": average(sum(len(piece.ids) for piece in each.pieces) for each in asked),
    }


def report(found: Sequence[Examined], variants: Sequence[Variant]) -> dict[str, Any]:
    """The figures: `policies` as written, the noise `floor`, what larger amounts change, and how often the exact run
    itself is wrong."""
    columns = {variant.policy: [each.verdicts[variant] for each in found] for variant in variants}
    floor = [each.floor for each in found]
    return {
        "policies": {
            policy: {**quality_of(column), "normalised_f1": _normalised(policy, columns).to_json(), **cost(column)}
            for policy, column in columns.items()
        },
        "floor": quality_of(floor),
        "rises": rises(columns, floor),
        "exact_wrong": mean(columns[EXACT], "wrong").to_json(),
    }


def _normalised(policy: str, columns: Mapping[str, list[Verdict]]) -> Interval:
    plain = columns.get("alone:none")
    if plain is None:
        return Interval(None, None, None, 0)
    return normalised_f1(columns[policy], plain, columns[EXACT])


def plot_quality(path: Path, result: dict[str, Any]) -> None:
    """Exact stands at the noise floor: what two exact runs differ by."""
    points = {policy: (row["ttft"]["value"], row["kl_mean"]["value"]) for policy, row in result["policies"].items()}
    points[EXACT] = (points[EXACT][0], result["floor"]["kl_mean"]["value"])
    of = f"n = {result['n']}, {result['context_tokens']:.0f} context tokens"
    title = f"{result['model']} ({result['dtype']}), {result['set']}, {of}"
    plot_points(path, points, "median time to first token (s)", "mean KL divergence to exact (nats)", title)
