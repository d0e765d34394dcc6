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


def ls(as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False) -> None:
    """List the documents."""
    with ApiClient.from_settings(get_settings()) as client:
        documents = list(client.documents())
    if as_json:
        typer.echo(json.dumps({"documents": [document.model_dump(mode="json") for document in documents]}))
    elif documents:
        out.print(document_table(documents))
    else:
        out.print("No documents yet. Add some: preread add PATH")


def document_table(documents: list[DocumentOut]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("id", no_wrap=True, min_width=ID_WIDTH)
    table.add_column("name", overflow="fold")
    table.add_column("state", overflow="fold")
    for title in ("pre-read", "tokens", "size"):
        table.add_column(title, justify="right", no_wrap=True)
    for document in documents:
        table.add_row(
            document.id,
            escape(document.name),
            state_cell(document),
            f"{document.chunks_ready} of {document.chunks}",
            f"{document.tokens:,}",
            decimal(document.size_bytes),
        )
    return table


def state_cell(document: DocumentOut) -> str:
    if document.failure:
        return f"[red]{document.state}[/red]: {escape(document.failure.message)}"
    return document.state
