"""`preread jobs`: what runs, waits, and was given up."""

import json
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from app.cli.client import ApiClient
from app.cli.console import out
from app.core.settings import get_settings
from app.web.schemas.jobs import JobOut


def jobs(
    dead: Annotated[bool, typer.Option("--dead", help="Only those that were given up.")] = False,
    retry: Annotated[str, typer.Option(metavar="ID", help="Try this one again now.")] = "",
    purge: Annotated[str, typer.Option(metavar="ID", help="Take this dead one off the list.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Show what is being done, what waits, and what was given up with its reason."""
    if retry and purge:
        raise typer.BadParameter("--retry and --purge exclude each other.")
    with ApiClient.from_settings(get_settings()) as client:
        if retry:
            job = client.retry_job(retry)
            out.print(f"{escape(job.id)} is tried again.")
        elif purge:
            client.purge_job(purge)
            out.print(f"{escape(purge)} is off the list; its document stays failed.")
        else:
            _show(client, "dead" if dead else None, as_json=as_json)


def _show(client: ApiClient, state: str | None, *, as_json: bool) -> None:
    pages = list(client.jobs(state))
    items = [job for page in pages for job in page.items]
    counts, dropped = pages[0].counts, pages[0].dropped
    if as_json:
        found = {"items": [job.model_dump(mode="json") for job in items], "counts": counts, "dropped": dropped}
        typer.echo(json.dumps(found))
        return
    if items:
        out.print(_table(items))
    out.print(", ".join(f"{count} {name}" for name, count in counts.items()))
    if dropped:
        out.print("messages dropped: " + ", ".join(f"{count} {reason}" for reason, count in dropped.items()))


def _table(items: list[JobOut]) -> Table:
    table = Table("job", "document", "state", "tries", "reason", box=None, pad_edge=False)
    for job in items:
        table.add_row(job.id, escape(job.document_name), job.state, str(job.attempts), escape(_reason(job)))
    return table


def _reason(job: JobOut) -> str:
    return f"{job.reason_code}: {job.reason}" if job.reason_code else ""
