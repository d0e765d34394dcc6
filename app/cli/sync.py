"""`preread sync`: keep documents in step with the files of folders."""

import json
import time
from collections.abc import Callable
from typing import Annotated

import typer
from rich.markup import escape

from app.cli.client import ApiClient
from app.cli.console import err, out
from app.core.settings import get_settings
from app.web.schemas.syncs import SyncOut, SyncReportOut

_PAUSE_SECONDS = 0.5
_DONE = ("added", "changed", "known", "renamed", "removed", "unchanged", "later")


def sync(
    folder: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One folder by its name; none: all.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what would be done.")] = False,
    remove_many: Annotated[
        bool, typer.Option("--remove-many", help="Remove documents even if most of the folder's files are gone.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Add what is new in the folders of PREREAD_SYNC_FOLDERS, renew what has changed, remove what is gone."""
    with ApiClient.from_settings(get_settings()) as client:
        begun = client.start_sync(folder, dry_run=dry_run, remove_many=remove_many)
        ended = follow(client, [each.id for each in begun])
    if as_json:
        typer.echo(json.dumps({"syncs": [each.model_dump(mode="json") for each in ended]}))
    else:
        for each in ended:
            _show(each)
    if any(each.report is None or each.report.problem for each in ended):
        raise typer.Exit(1)


def follow(client: ApiClient, sync_ids: list[str], sleep: Callable[[float], None] = time.sleep) -> list[SyncOut]:
    """Wait until all have ended; they go on by themselves if this is interrupted."""
    with err.status("a worker is looking through the folders …"):
        while any(client.sync(each).ended_at is None for each in sync_ids):
            sleep(_PAUSE_SECONDS)
    return [client.sync(each) for each in sync_ids]


def sync_line(sync: SyncOut) -> str:
    """One sentence: what was found in the folder, and what was or would be done."""
    report = sync.report or SyncReportOut()
    parts = [f"{count} {name}" for name in _DONE if (count := getattr(report, name))]
    parts += [f"{count} refused ({code})" for code, count in report.refused.items()]
    parts += [f"{report.to_remove} to be removed"] * bool(report.to_remove)
    would = "would be: " if sync.dry_run else ""
    return f"{sync.folder}: {report.files} files, {would}{', '.join(parts) or 'nothing to do'}"


def _show(sync: SyncOut) -> None:
    out.print(escape(sync_line(sync)))
    report = sync.report or SyncReportOut()
    for refusal in report.refusals:
        out.print(f"  [red]refused[/red] {escape(refusal.path)}: {escape(refusal.message)}")
    if report.problem:
        out.print(f"  [red]problem[/red] {escape(report.problem)}")
