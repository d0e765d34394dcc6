"""`preread add`: send files and URLs, then wait until they are pre-read."""

import re
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from app.cli.client import ApiClient
from app.cli.console import out
from app.cli.errors import NothingToAdd
from app.core.folder_files import SUFFIXES, is_document
from app.core.settings import get_settings
from app.web.schemas.documents import DocumentOut

_FINAL = frozenset({"preread", "failed"})
_PAUSE_SECONDS = 0.5
_UNFINISHED_AT_ONCE = 10
_URL = re.compile(r"https?://", re.IGNORECASE)


def add(
    sources: Annotated[
        list[str], typer.Argument(metavar="PATH_OR_URL…", help="Files, folders to search, or http(s) URLs.")
    ],
    collection: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Put them into this collection; may be repeated.")
    ] = None,
    tag: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Give them this tag; may be repeated.")] = None,
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Return as soon as everything is sent.")] = False,
) -> None:
    """Add documents: PDF, Word, PowerPoint, Excel, HTML, Markdown, reStructuredText, CSV, JSON, e-mail, EPUB, text."""
    urls = [source for source in sources if _URL.match(source)]
    paths = [_path(source) for source in sources if not _URL.match(source)]
    with ApiClient.from_settings(get_settings()) as client:
        documents = add_files(client, files_to_add(paths), collection or [], tag or []) if paths else []
        fetched, refused = add_urls(client, urls, collection or [], tag or []) if urls else ([], 0)
        documents += fetched
        waited = [] if no_wait else wait_until_read(client, documents)
    failed = [document for document in waited if document.state == "failed"]
    for document in failed:
        reason = document.failure.message if document.failure else "no reason given"
        out.print(f"[red]failed[/red] {escape(document.name)}: {escape(reason)}")
    if failed or refused:
        raise typer.Exit(1)


def files_to_add(paths: list[Path]) -> list[tuple[Path, str]]:
    """Each file with the name it is sent under: inside a folder, its path from there.

    Files named by the user are taken whatever they are; in folders, hidden ones and unknown types are passed over.
    Raises NothingToAdd when nothing is left.
    """
    found: list[tuple[Path, str]] = []
    for path in paths:
        if path.is_file():
            found.append((path, path.name))
            continue
        for file in sorted(path.rglob("*")):
            name = file.relative_to(path)
            if file.is_file() and is_document(name):
                found.append((file, name.as_posix()))
    if not found:
        raise NothingToAdd(
            f"There is nothing to add in {', '.join(map(str, paths))}.",
            f"Folders are searched for {', '.join(sorted(SUFFIXES))}.",
        )
    return found


def add_files(
    client: ApiClient, files: list[tuple[Path, str]], collections: Sequence[str] = (), tags: Sequence[str] = ()
) -> list[DocumentOut]:
    documents = []
    for path, name in files:
        added = client.add(path, name, collections, tags)
        documents.append(added.document)
        _say(added.document, name, created=added.created)
    return documents


def add_urls(
    client: ApiClient, urls: list[str], collections: Sequence[str], tags: Sequence[str]
) -> tuple[list[DocumentOut], int]:
    """The documents, and how many URLs became none."""
    documents = []
    refused = 0
    for item in client.add_urls(urls, collections, tags):
        if item.document is not None:
            documents.append(item.document)
            _say(item.document, item.url, created=item.created)
        elif item.error is not None:
            refused += 1
            out.print(f"[red]refused[/red] {escape(item.url)}: {escape(f'{item.error.detail} {item.error.hint}')}")
    return documents, refused


def wait_until_read(client: ApiClient, documents: list[DocumentOut]) -> list[DocumentOut]:
    """Wait until every document is pre-read or has failed; Ctrl-C ends the wait, not the work."""
    latest = {document.id: document for document in documents}
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[detail]}"), TimeElapsedColumn())
    with Progress(*columns, console=out) as progress:
        bar = progress.add_task("pre-reading", total=len(latest), detail="")
        waiting = deque(document.id for document in latest.values() if document.state not in _FINAL)
        while waiting:
            progress.update(bar, completed=len(latest) - len(waiting), detail=_detail(list(latest.values())))
            time.sleep(_PAUSE_SECONDS)
            _ask(client, waiting, latest)
        progress.update(bar, completed=len(latest), detail=_detail(list(latest.values())))
    return list(latest.values())


def _ask(client: ApiClient, waiting: deque[str], latest: dict[str, DocumentOut]) -> None:
    """Ask for those whose turn it is, so that waiting for many takes no time from the work."""
    unfinished = 0
    for _ in range(len(waiting)):
        document = client.document(waiting.popleft())
        latest[document.id] = document
        if document.state not in _FINAL:
            waiting.append(document.id)
            unfinished += 1
        if unfinished == _UNFINISHED_AT_ONCE:
            return


def _path(source: str) -> Path:
    path = Path(source)
    if not path.exists():
        raise typer.BadParameter(f"Path '{source}' does not exist.", param_hint="PATH_OR_URL…")
    return path


def _say(document: DocumentOut, name: str, *, created: bool) -> None:
    out.print(f"{'added' if created else 'known'}  {document.id}  {escape(name)}")


def _detail(documents: list[DocumentOut]) -> str:
    done = sum(document.state in _FINAL for document in documents)
    ready, chunks = sum(d.chunks_ready for d in documents), sum(d.chunks for d in documents)
    return f"{done} of {len(documents)} documents, {ready} of {chunks} chunks"
