import json
from datetime import UTC, datetime

import pytest
from typer.testing import CliRunner

from app.cli.client import ApiClient
from app.cli.main import cli
from app.cli.sync import follow, sync_line
from app.core.settings import get_settings
from app.web.schemas.syncs import RefusalOut, SyncListOut, SyncOut, SyncReportOut


def sync(report: SyncReportOut | None, *, dry_run: bool = False, folder: str = "docs") -> SyncOut:
    now = datetime.now(UTC)
    return SyncOut(
        id=f"syn_{folder}", folder=folder, dry_run=dry_run, remove_many=False, asked_at=now, running=False,
        ended_at=now if report else None, report=report,
    )  # fmt: skip


def answer(out: SyncOut | SyncListOut) -> tuple[int, str, bytes]:
    return 200, "application/json", out.model_dump_json().encode()


@pytest.fixture
def service(own_state, server, monkeypatch):
    monkeypatch.setenv("PREREAD_WEB_URL", f"http://127.0.0.1:{server.server_port}")
    get_settings.cache_clear()
    return server


def test_a_line_tells_what_was_done_or_would_be() -> None:
    done = SyncReportOut(files=9, added=2, removed=1, unchanged=6, refused={"empty_file": 1})
    assert sync_line(sync(done)) == "docs: 9 files, 2 added, 1 removed, 6 unchanged, 1 refused (empty_file)"
    assert (
        sync_line(sync(SyncReportOut(files=3, to_remove=2), dry_run=True)) == "docs: 3 files, would be: 2 to be removed"
    )
    assert sync_line(sync(SyncReportOut())) == "docs: 0 files, nothing to do"


def test_every_folder_is_shown_with_what_was_refused(service) -> None:
    refusals = [RefusalOut(path="[a].md", code="empty_file", message="The file is empty.")]
    ended = sync(SyncReportOut(files=2, added=1, refused={"empty_file": 1}, refusals=refusals))
    service.answers = {"/sync": answer(SyncListOut(items=[ended], folders=["docs"])), "/sync/syn_docs": answer(ended)}
    result = CliRunner().invoke(cli, ["sync", "docs", "--dry-run", "--remove-many"])
    assert result.exit_code == 0, result.output
    assert "docs: 2 files, 1 added" in result.stdout
    assert "refused [a].md: The file is empty." in result.stdout
    assert json.loads(service.asked[0][1]) == {"folder": "docs", "dry_run": True, "remove_many": True}


def test_a_problem_is_told_and_is_a_failure(service) -> None:
    ended = sync(SyncReportOut(problem="Nothing was removed. Is its disk mounted?"))
    service.answers = {"/sync": answer(SyncListOut(items=[ended], folders=["docs"])), "/sync/syn_docs": answer(ended)}
    result = CliRunner().invoke(cli, ["sync"])
    assert (result.exit_code, "disk mounted" in result.stdout) == (1, True)
    assert json.loads(CliRunner().invoke(cli, ["sync", "--json"]).stdout)["syncs"][0]["folder"] == "docs"


def test_a_sync_is_followed_until_it_has_ended(server) -> None:
    server.answers["/sync/syn_docs"] = answer(sync(None))
    pauses = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 3:
            server.answers["/sync/syn_docs"] = answer(sync(SyncReportOut(added=1)))

    with ApiClient(f"http://127.0.0.1:{server.server_port}") as client:
        (ended,) = follow(client, ["syn_docs"], pause)
    assert (len(pauses), ended.report and ended.report.added) == (3, 1)
