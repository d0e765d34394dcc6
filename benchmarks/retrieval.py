"""`preread bench retrieval`: whether searching finds what answers a question, by vectors, by words, and by both."""

import json
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from app.core.settings import get_settings
from benchmarks.datasets.library import Library
from benchmarks.machine import provenance
from benchmarks.retrieval_measures import figures, nearest, refusals
from benchmarks.retrieval_sets import RetrievalSet, load_library
from benchmarks.retrieval_table import show
from benchmarks.searched_library import SearchedLibrary, searched
from generator.chat import ModelTokenizer
from generator.model_source import resolve_model
from retrieval.embedding import Embedder
from retrieval.index import SearchMode
from retrieval.reranking import open_reranker

_DEPTH = 10
_THRESHOLDS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5)


class Modes(StrEnum):
    HYBRID = "hybrid"
    RRF = "rrf"
    DENSE = "dense"
    SPARSE = "sparse"
    ALL = "all"


def retrieval(
    data: Annotated[Path, typer.Option(help="Folder of the set.")],
    which: Annotated[RetrievalSet, typer.Option("--set", help="The set in that folder.")],
    mode: Annotated[Modes, typer.Option(help="How chunks are found.")] = Modes.ALL,
    n: Annotated[int, typer.Option(min=0, help="Questions, evenly drawn; 0: all.")] = 0,
    scale: Annotated[
        int, typer.Option(min=0, help="Fill the index up to so many chunks with made-up ones, to time a large one.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Search a set's texts for its questions, in an index of its own, and compare with what the set calls right.

    With a reranker if one is set.
    """
    settings = get_settings()
    everything = load_library(which, data, ModelTokenizer(resolve_model(settings)), settings.chunk_tokens)
    step = len(everything.questions) // n if n else 1
    library = Library(everything.chunks, everything.questions[:: max(1, step)][: n or None])
    modes = list(SearchMode) if mode is Modes.ALL else [SearchMode(mode)]
    embedder = Embedder(settings.embedding_model)
    reranker = open_reranker(settings)
    with searched(library, embedder, settings.embedding_model, scale, reranker) as place:
        steps = len(library.questions) * (len(modes) + (0 if scale else 1))
        with Progress(console=Console(stderr=True)) as progress:
            bar = progress.add_task("searching", total=steps)
            run = Run(library, place, settings.top_k, lambda: progress.advance(bar))
            measured = {str(each): run.measure(each) for each in modes}
            no_answer = [] if scale else run.no_answer(modes[0], sorted({settings.min_score, *_THRESHOLDS}))
    result = {
        **provenance(settings.embedding_model, "float32"),
        "set": str(which),
        "data": str(data),
        "n": len(library.questions),
        "chunks": max(scale, len(library.chunks)),
        "reranker": settings.reranker,
        "embed_ms_p50": place.embed_ms,
        "modes": measured,
        "no_answer": no_answer,
    }
    if as_json:
        typer.echo(json.dumps(result))
    else:
        show(result)


class Run:
    """Asks every question of a library; `advance` is called after each."""

    def __init__(self, library: Library, place: SearchedLibrary, top_k: int, advance: Callable[[], None]) -> None:
        self._questions = library.questions
        self._place = place
        self._top_k = top_k
        self._advance = advance
        self._nearest: dict[SearchMode, list[float]] = {}

    def measure(self, mode: SearchMode) -> dict[str, Any]:
        found, times = [], []
        for question in self._questions:
            passages, milliseconds = self._place.search(question.text, mode, _DEPTH)
            found.append(passages)
            times.append(milliseconds)
            self._advance()
        self._nearest[mode] = [nearest(passages[: self._top_k]) for passages in found]
        return figures(self._questions, found, times)

    def no_answer(self, mode: SearchMode, thresholds: Sequence[float]) -> list[dict[str, Any]]:
        """Ask again without the document that answers; nothing where the set names none. `mode` has been measured."""
        without = []
        for question in self._questions:
            others = [document for document in self._place.documents if document != question.document]
            if question.document and others:
                without.append(nearest(self._place.search(question.text, mode, self._top_k, others)[0]))
            self._advance()
        if not without:
            return []
        return [refusals(self._nearest[mode], without, least) for least in thresholds]
