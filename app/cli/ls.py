"""`preread ls`: the documents."""

import json
from typing import Annotated

import typer
from rich.filesize import decimal
from rich.markup import escape
from rich.table import Table

from app.cli.client import ApiClient
from app.cli.console import out
from app.core.settings import get_settings
from app.web.schemas.documents import DocumentOut

ID_WIDTH = 24


def ls(
    query: Annotated[str, typer.Argument(metavar="[TEXT]", help="Part of the name or title.")] = "",
    collection: Annotated[str, typer.Option(metavar="NAME", help="Only documents in this collection.")] = "",
    tag: Annotated[str, typer.Option(metavar="NAME", help="Only documents with this tag.")] = "",
    state: Annotated[str, typer.Option(help="Only documents in this state, such as failed.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """List the documents."""
    chosen = {"q": query, "collection": collection, "tag": tag, "state": state}
    with ApiClient.from_settings(get_settings()) as client:
        documents = list(client.documents({name: value for name, value in chosen.items() if value}))
    if as_json:
        typer.echo(json.dumps({"documents": [document.model_dump(mode="json") for document in documents]}))
    elif documents:
        out.print(document_table(documents))
    elif any(chosen.values()):
        out.print("No documents fit.")
    else:
        out.print("No documents yet. Add some: preread add PATH")


def document_table(documents: list[DocumentOut]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("id", no_wrap=True, min_width=ID_WIDTH)
    table.add_column("name", overflow="fold")
    table.add_column("state", overflow="fold")
    labelled = any(document.collections or document.tags for document in documents)
    if labelled:
        table.add_column("collections, #tags", overflow="fold")
    for title in ("pre-read", "tokens", "size"):
        table.add_column(title, justify="right", no_wrap=True)
    for document in documents:
        table.add_row(
            document.id,
            escape(document.name),
            state_cell(document),
            *([label_cell(document)] if labelled else []),
            f"{document.chunks_ready} of {document.chunks}",
            f"{document.tokens:,}",
            decimal(document.size_bytes),
        )
    return table


def label_cell(document: DocumentOut) -> str:
    return escape(", ".join([*document.collections, *(f"#{tag}" for tag in document.tags)]))


def state_cell(document: DocumentOut) -> str:
    if document.failure:
        return f"[red]{document.state}[/red]: {escape(document.failure.message)}"
    return document.state
