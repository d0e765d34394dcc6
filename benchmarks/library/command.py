"""`preread bench library`: how long listing, searching and filtering documents takes when there are many."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from app.core.catalog import Catalog, DocumentFilter, DocumentState, LabelKind
from benchmarks.library.filling import COMMON_TAG, LARGE_COLLECTION, RARE_TAG, TENANT, fill
from benchmarks.machine import provenance

_PAGE = 50


def library(
    documents: Annotated[int, typer.Option(min=_PAGE + 1, help="Documents in the catalog.")] = 100_000,
    chunks: Annotated[int, typer.Option(min=0, help="Chunks of each.")] = 3,
    rounds: Annotated[int, typer.Option(min=1, help="Measured rounds.")] = 20,
    database_url: Annotated[
        str, typer.Option(help="An empty database to fill, which stays filled; none: SQLite in a temporary folder.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Time of one page of documents: the first, a deep one, searched, filtered; of the lists of labels."""
    with _database(database_url) as url:
        catalog = Catalog(url)
        catalog.migrate()
        Console(stderr=True).print(f"filling in {documents:,} documents …")
        fill(url, documents, chunks)
        listed = {name: _milliseconds(look, rounds) for name, look in _looks(catalog, documents).items()}
        catalog.close()
    database = url.partition(":")[0].partition("+")[0]
    result = {
        **provenance("none", "none"), "database": database, "documents": documents, "chunks_each": chunks,
        "page": _PAGE, "rounds": rounds, "listed": listed,
    }  # fmt: skip
    if as_json:
        typer.echo(json.dumps(result))
    else:
        Console().print(_table(result))


@contextmanager
def _database(url: str) -> Iterator[str]:
    if url:
        yield url
        return
    with TemporaryDirectory(prefix="preread-library-") as folder:
        yield f"sqlite:///{Path(folder) / 'preread.db'}"


def _looks(catalog: Catalog, documents: int) -> dict[str, Callable[[], object]]:
    def page(offset: int = 0, chosen: DocumentFilter | None = None, after: str | None = None) -> Callable[[], object]:
        return lambda: catalog.document_table(TENANT, _PAGE, offset, chosen or DocumentFilter(), after)

    deep = documents - _PAGE - 1
    cursor = catalog.list_documents(TENANT, 1, deep).following
    return {
        "first page": page(),
        "deep page by offset": page(deep),
        "deep page by cursor": page(after=cursor),
        "search, all found": page(chosen=DocumentFilter("ÜBERBLICK")),
        "search, some found": page(chosen=DocumentFilter("department 42/")),
        "search, one found": page(chosen=DocumentFilter(f"report no. {documents // 2},")),
        "search, none found": page(chosen=DocumentFilter("nowhere in it")),
        "failed": page(chosen=DocumentFilter(state=DocumentState.FAILED)),
        "large collection": page(chosen=DocumentFilter(collection=LARGE_COLLECTION)),
        "large collection, deep": page(documents // 4, chosen=DocumentFilter(collection=LARGE_COLLECTION)),
        "rare tag": page(chosen=DocumentFilter(tag=RARE_TAG)),
        "large collection and tag": page(chosen=DocumentFilter(collection=LARGE_COLLECTION, tag=COMMON_TAG)),
        "large collection, pre-read": page(
            chosen=DocumentFilter(state=DocumentState.PREREAD, collection=LARGE_COLLECTION)
        ),
        "large collection, searched": page(chosen=DocumentFilter("department 42/", collection=LARGE_COLLECTION)),
        "collections": lambda: catalog.label_counts(TENANT, LabelKind.COLLECTION),
        "tags": lambda: catalog.label_counts(TENANT, LabelKind.TAG),
    }


def _milliseconds(look: Callable[[], object], rounds: int) -> dict[str, float]:
    """Of all rounds but a first one that warms up; `cpu_ms_p50` is this process's, steadier beside other work."""
    look()
    taken, computed = [], []
    for _ in range(rounds):
        began, computing = time.perf_counter(), time.process_time()
        look()
        taken.append(1000 * (time.perf_counter() - began))
        computed.append(1000 * (time.process_time() - computing))
    return {
        "ms_p50": round(median(taken), 2),
        "ms_max": round(max(taken), 2),
        "cpu_ms_p50": round(median(computed), 2),
    }


def _table(result: dict[str, Any]) -> Table:
    title = f"{result['documents']:,} documents, {result['database']}, pages of {_PAGE}, {result['rounds']} rounds"
    table = Table("", "ms, median", "ms, longest", "ms of computing, median", title=title, caption=result["machine"])
    for name, taken in result["listed"].items():
        table.add_row(name, f"{taken['ms_p50']:.1f}", f"{taken['ms_max']:.1f}", f"{taken['cpu_ms_p50']:.1f}")
    return table
