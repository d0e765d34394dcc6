"""`preread rm`: delete documents."""

from typing import Annotated

import typer

from app.cli.client import ApiClient
from app.cli.console import out
from app.core.settings import get_settings


def rm(ids: Annotated[list[str], typer.Argument(metavar="ID…", help="Identifiers, from `preread ls`.")]) -> None:
    """Delete documents, with everything that was made from them."""
    with ApiClient.from_settings(get_settings()) as client:
        for document_id in ids:
            client.delete(document_id)
            out.print(f"deleted {document_id}")
