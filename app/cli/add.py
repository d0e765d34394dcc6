"""`preread add`: send files, then wait until they are pre-read."""

import time
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from app.cli.client import ApiClient
from app.cli.console import out
from app.cli.errors import NothingToAdd
from app.core.settings import get_settings
from app.web.schemas.documents import DocumentOut

SUFFIXES = frozenset(
    {
        ".pdf", ".docx", ".pptx", ".xlsx", ".epub", ".eml", ".html", ".htm", ".xhtml", ".md", ".markdown", ".mdown",
        ".mkd", ".rst", ".rest", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".txt", ".text",
    }
)  # fmt: skip
_FINAL = frozenset({"preread", "failed"})
_PAUSE_SECONDS = 0.5


def add(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Files, or folders to search.", exists=True)],
    no_wait: Annotated[bool, typer.Option("--no-wait", help="Return as soon as the files are sent.")] = False,
) -> None:
    """Add documents: PDF, Word, PowerPoint, Excel, HTML, Markdown, reStructuredText, CSV, JSON, e-mail, EPUB, text."""
    with ApiClient.from_settings(get_settings()) as client:
        documents = add_files(client, files_to_add(paths))
        if no_wait:
            return
        failed = [document for document in wait_until_read(client, documents) if document.state == "failed"]
    for document in failed:
        reason = document.failure.message if document.failure else "no reason given"
        out.print(f"[red]failed[/red] {escape(document.name)}: {escape(reason)}")
    if failed:
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
            hidden = any(part.startswith(".") for part in name.parts)
            if file.is_file() and file.suffix.lower() in SUFFIXES and not hidden:
                found.append((file, name.as_posix()))
    if not found:
        raise NothingToAdd(
            f"There is nothing to add in {', '.join(map(str, paths))}.",
            f"Folders are searched for {', '.join(sorted(SUFFIXES))}.",
        )
    return found


def add_files(client: ApiClient, files: list[tuple[Path, str]]) -> list[DocumentOut]:
    documents = []
    for path, name in files:
        added = client.add(path, name)
        documents.append(added.document)
        out.print(f"{'added' if added.created else 'known'}  {added.document.id}  {escape(name)}")
    return documents


def wait_until_read(client: ApiClient, documents: list[DocumentOut]) -> list[DocumentOut]:
    """Wait until every document is pre-read or has failed; Ctrl-C ends the wait, not the work."""
    latest = {document.id: document for document in documents}
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[detail]}"), TimeElapsedColumn())
    with Progress(*columns, console=out) as progress:
        bar = progress.add_task("pre-reading", total=len(latest), detail="")
        while waiting := [document for document in latest.values() if document.state not in _FINAL]:
            progress.update(bar, completed=len(latest) - len(waiting), detail=_detail(list(latest.values())))
            time.sleep(_PAUSE_SECONDS)
            for document in waiting:
                latest[document.id] = client.document(document.id)
        progress.update(bar, completed=len(latest), detail=_detail(list(latest.values())))
    return list(latest.values())


def _detail(documents: list[DocumentOut]) -> str:
    done = sum(document.state in _FINAL for document in documents)
    ready, chunks = sum(d.chunks_ready for d in documents), sum(d.chunks for d in documents)
    return f"{done} of {len(documents)} documents, {ready} of {chunks} chunks"
