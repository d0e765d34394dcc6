"""The settings of folders, and what a document's name says."""

from pathlib import Path, PurePath

import pytest
from pydantic import ValidationError

from app.core.document_name import suffix_of
from app.core.folder_files import is_document
from app.core.settings import Settings
from app.core.sync_folders import sync_folders_from


def test_folders_are_named_and_absolute(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/x")
    found = sync_folders_from(" docs = /srv/docs ; 資料=~/d;c=/a=b;")
    assert found == {"docs": Path("/srv/docs"), "資料": Path("/home/x/d"), "c": Path("/a=b")}
    assert sync_folders_from("") == {}
    assert sync_folders_from("d=relative")["d"] == Path.cwd() / "relative"


@pytest.mark.parametrize(
    "value", ["/srv/docs", "docs=", "=/srv", "a/b=/srv", "a=/x;a=/y", f"{'x' * 65}=/srv", "a\tb=/x"]
)
def test_what_names_no_folder_stops_every_process_at_its_start(value: str) -> None:
    with pytest.raises(ValidationError, match=r"(?i)name"):
        Settings(_env_file=None, sync_folders=value)


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("a.MD", ".md"), ("docs/a.tar.html", ".html"), ("https://a.example/x.html?y=z.md#a.txt", ".html"),
        ("http://a.md/", ""), ("http://a.md", ""), ("https://a.example?x.md", ""), ("http://[x.csv", ""),
        ("a?b.md", ".md"), ("ftp://a/x.md", ".md"), ("", ""),
    ],
)  # fmt: skip
def test_a_suffix_is_that_of_the_path_also_in_a_url(name: str, suffix: str) -> None:
    assert suffix_of(name) == suffix


@pytest.mark.parametrize(
    ("path", "document"), [("a.PDF", True), ("b/c.md", True), (".a.md", False), (".b/c.md", False), ("a.mp4", False)]
)
def test_hidden_files_and_unknown_types_are_no_documents(path: str, document: bool) -> None:
    assert is_document(PurePath(path)) is document
