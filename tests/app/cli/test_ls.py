import json
from datetime import UTC, datetime
from io import StringIO

import pytest
from rich.console import Console
from typer.testing import CliRunner

from app.cli.ls import document_table
from app.cli.main import cli
from app.core.ids import new_id
from app.core.settings import get_settings
from app.web.schemas.documents import DocumentOut, DocumentPage, FailureOut


def document(name: str, failure: FailureOut | None = None, **labels: list[str]) -> DocumentOut:
    return DocumentOut(
        id=new_id("doc"), name=name, title=name, state="failed" if failure else "indexed", failure=failure,
        media_type="text/markdown", size_bytes=12_345, pages=None, chunks=4, chunks_ready=3, tokens=1900,
        created_at=datetime.now(UTC), updated_at=datetime.now(UTC), **labels,
    )  # fmt: skip


def test_identifiers_are_whole_on_a_narrow_terminal() -> None:
    documents = [document("a-file-with-quite-a-long-name-for-a-narrow-terminal.md"), document("[red]b.md")]
    console = Console(file=StringIO(), width=80)
    console.print(document_table(documents))
    shown = console.file.getvalue()
    assert all(listed.id in shown for listed in documents)
    assert "[red]b.md" in shown


def test_a_failure_is_shown_with_its_reason() -> None:
    console = Console(file=StringIO(), width=140)
    console.print(document_table([document("scan.pdf", FailureOut(code="no_text_found", message="No text found."))]))
    assert "failed: No text found." in console.file.getvalue()


@pytest.mark.parametrize("count", [0, 1, 3])
def test_every_document_is_listed(own_state, server, monkeypatch, count) -> None:
    documents = [document(f"{number}.md") for number in range(count)]
    page = DocumentPage(items=documents, total=count)
    server.answer = 200, "application/json", page.model_dump_json().encode()
    monkeypatch.setenv("PREREAD_WEB_URL", f"http://127.0.0.1:{server.server_port}")
    get_settings.cache_clear()
    listed = json.loads(CliRunner().invoke(cli, ["ls", "--json"]).stdout)["documents"]
    assert [item["id"] for item in listed] == [item.id for item in documents]


def test_labels_are_shown_where_a_document_has_any() -> None:
    console = Console(file=StringIO(), width=140)
    console.print(document_table([document("a.md", collections=["sea", "[red]"], tags=["blue"]), document("b.md")]))
    assert "sea, [red], #blue" in console.file.getvalue()
    bare = Console(file=StringIO(), width=140)
    bare.print(document_table([document("b.md")]))
    assert "collections" not in bare.file.getvalue()


def test_the_list_is_narrowed_by_the_server_and_followed_to_its_end(own_state, server, monkeypatch) -> None:
    first = DocumentPage(items=[document("1.md")], total=2, following="place.doc")
    second = DocumentPage(items=[document("2.md")], total=2)
    chosen = "limit=200&q=travel&collection=sea&tag=blue&state=failed"
    server.answers = {
        f"/documents?{chosen}": (200, "application/json", first.model_dump_json().encode()),
        f"/documents?{chosen}&after=place.doc": (200, "application/json", second.model_dump_json().encode()),
    }
    monkeypatch.setenv("PREREAD_WEB_URL", f"http://127.0.0.1:{server.server_port}")
    get_settings.cache_clear()
    arguments = ["ls", "travel", "--collection", "sea", "--tag", "blue", "--state", "failed", "--json"]
    listed = json.loads(CliRunner().invoke(cli, arguments).stdout)["documents"]
    assert [item["name"] for item in listed] == ["1.md", "2.md"]
