"""`preread bench chunking`: how much of what answers a question comes with it, by the size of chunks."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from app.core.errors import BadInput
from app.core.settings import get_settings
from benchmarks.datasets.excerpts import ExcerptQuestion, load_excerpts
from benchmarks.interval import mean_of
from benchmarks.machine import provenance
from benchmarks.sweep import token_counts
from generator.chat import ModelTokenizer
from generator.model_source import resolve_model
from retrieval.chunking import split
from retrieval.embedding import Embedder
from retrieval.parsing import parse
from retrieval.tokenizer import TokenEncoder


@dataclass(frozen=True)
class Place:
    """A chunk: `tokens` of the language model, characters [start, end) of `document`."""

    document: str
    start: int
    end: int
    tokens: int


@dataclass(frozen=True)
class Found:
    """recall: share of the excerpts' characters that the chunks hold; precision: share of the chunks' characters that
    are of excerpts; whole: 1 where every excerpt lies in the chunks as a whole, else 0."""

    recall: float
    precision: float
    whole: float


def chunking(
    data: Annotated[Path, typer.Option(help="Folder of the chunking_evaluation set.")],
    sizes: Annotated[str, typer.Option(help="Comma-separated: most tokens in a chunk.")] = "128,256,512,640",
    budgets: Annotated[str, typer.Option(help="Comma-separated: tokens of chunks in a prompt.")] = "1024,4096",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """What the nearest chunks hold of the excerpts that answer, at the same number of prompt tokens."""
    settings = get_settings()
    chunk_tokens, prompt_tokens = token_counts(sizes), token_counts(budgets)
    if not chunk_tokens or not prompt_tokens:
        raise BadInput("There is nothing to measure.", "Name at least one size with --sizes and one with --budgets.")
    texts, questions = load_excerpts(data)
    tokenizer = ModelTokenizer(resolve_model(settings))
    embedder = Embedder(settings.embedding_model)
    rows = []
    with Progress(console=Console(stderr=True)) as progress:
        bar = progress.add_task("embedding", total=len(chunk_tokens))
        asked = np.array([embedder.embed_query(question.text) for question in questions])
        for size in chunk_tokens:
            places, vectors = _library(texts, tokenizer, embedder, size)
            order = np.argsort(-(asked @ vectors.T), axis=1, kind="stable")
            for budget in prompt_tokens:
                found = [
                    found_in(question, within([places[place] for place in ranked], budget))
                    for question, ranked in zip(questions, order, strict=True)
                ]
                rows.append({"chunk_tokens": size, "budget": budget, "chunks": len(places), **_figures(found)})
            progress.advance(bar)
    result = {**provenance(settings.embedding_model, "float32"), "data": str(data), "n": len(questions), "sizes": rows}
    if as_json:
        typer.echo(json.dumps(result))
    else:
        Console().print(_table(result))


def within(ranked: Sequence[Place], budget: int) -> list[Place]:
    """The first chunks of `ranked` that have at most `budget` tokens together."""
    taken: list[Place] = []
    for place in ranked:
        budget -= place.tokens
        if budget < 0:
            break
        taken.append(place)
    return taken


def found_in(question: ExcerptQuestion, chunks: Sequence[Place]) -> Found:
    """Chunks of one document do not overlap; excerpts may."""
    wanted: set[int] = {at for start, end in question.excerpts for at in range(start, end)}
    held: set[int] = {at for chunk in chunks if chunk.document == question.document for at in _span(chunk)}
    characters = sum(len(_span(chunk)) for chunk in chunks)
    both = len(wanted & held)
    return Found(both / len(wanted), both / characters if characters else 0.0, float(both == len(wanted)))


def _span(chunk: Place) -> range:
    return range(chunk.start, chunk.end)


def _library(
    texts: dict[str, str], tokenizer: TokenEncoder, embedder: Embedder, size: int
) -> tuple[list[Place], NDArray[np.float64]]:
    """All documents' chunks, and their vectors (chunks, dimension)."""
    places: list[Place] = []
    vectors: list[list[float]] = []
    for name, text in texts.items():
        chunks = split(parse(text.encode(), f"{name}.md"), tokenizer, size)
        places += [Place(name, chunk.start, chunk.end, len(chunk.token_ids)) for chunk in chunks]
        vectors += embedder.embed_texts([chunk.text for chunk in chunks])
    return places, np.array(vectors)


def _figures(found: Sequence[Found]) -> dict[str, Any]:
    return {
        name: mean_of([getattr(each, name) for each in found]).to_json() for name in ("recall", "precision", "whole")
    }


def _table(result: dict[str, Any]) -> Table:
    title = f"{result['model']}, n = {result['n']}: mean (95 % interval)"
    columns = ("chunks of", "prompt tokens", "chunks in all", "recall", "precision", "whole answers")
    table = Table(*columns, title=title, caption=result["machine"])
    for row in result["sizes"]:
        figures = [row[name] for name in ("recall", "precision", "whole")]
        shown = [f"{each['value']:.3f} ({each['low']:.3f} to {each['high']:.3f})" for each in figures]
        table.add_row(str(row["chunk_tokens"]), str(row["budget"]), str(row["chunks"]), *shown)
    return table
