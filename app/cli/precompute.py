"""`preread precompute`: pre-read now what the nightly job would."""

from typing import Annotated

import typer

from app.cli.client import ApiClient
from app.cli.console import out
from app.core.settings import get_settings


def precompute(
    missing: Annotated[bool, typer.Option("--missing", help="Only chunks without KV (the default).")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Every chunk, also those that have KV.")] = False,
    document: Annotated[str | None, typer.Option("--document", metavar="ID", help="One document only.")] = None,
) -> None:
    """Have the workers pre-read documents."""
    if missing and everything:
        raise typer.BadParameter("--missing and --all exclude each other.")
    with ApiClient.from_settings(get_settings()) as client:
        woken = client.precompute("all" if everything else "missing", document)
    out.print(f"{woken.documents} documents will be pre-read; `preread status` shows how far that is.")
