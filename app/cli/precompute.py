"""`preread precompute`: pre-read now what the nightly job would."""

from typing import Annotated

import typer
from rich.markup import escape

from app.cli.client import ApiClient
from app.cli.console import out
from app.cli.run_view import follow, run_line
from app.core.settings import get_settings


def precompute(
    missing: Annotated[bool, typer.Option("--missing", help="Only chunks without KV (the default).")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Every chunk, also those that have KV.")] = False,
    document: Annotated[str | None, typer.Option("--document", metavar="ID", help="One document only.")] = None,
    detach: Annotated[bool, typer.Option("--detach", help="Do not wait for the end.")] = False,
) -> None:
    """Have the workers pre-read documents, most asked for first; Ctrl-C leaves them at it."""
    if missing and everything:
        raise typer.BadParameter("--missing and --all exclude each other.")
    with ApiClient.from_settings(get_settings()) as client:
        started = client.precompute("all" if everything else "missing", document)
        if detach:
            out.print(f"{started.documents} documents are looked at; `preread status` shows how far that is.")
            return
        run = follow(client, started.run_id)
    out.print(escape(run_line(run)))
