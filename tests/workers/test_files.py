import io
import os

import pytest

from app.core.errors import BadInput
from workers.files import DocumentFiles, EmptyFile, FileMissing, FileTooLarge


@pytest.fixture
def files(tmp_path):
    return DocumentFiles(tmp_path / "files")


def everything(tmp_path):
    return [path for path in (tmp_path / "files").rglob("*") if path.is_file()]


def test_a_received_file_is_kept_under_its_document(files):
    incoming = files.receive(io.BytesIO(b"text"), 10)
    files.keep(incoming, "default", "doc_1")
    assert incoming.size_bytes == 4
    assert files.has("default", "doc_1", incoming.sha256)
    assert files.read("default", "doc_1", incoming.sha256) == b"text"


def test_a_file_over_the_limit_leaves_nothing(files, tmp_path):
    with pytest.raises(FileTooLarge):
        files.receive(io.BytesIO(b"x" * 11), 10)
    assert everything(tmp_path) == []


def test_an_empty_file_is_refused_and_leaves_nothing(files, tmp_path):
    with pytest.raises(EmptyFile):
        files.receive(io.BytesIO(b""), 10)
    assert everything(tmp_path) == []


def test_text_comes_back_with_every_character(files):
    text = "Zeile\r\n二行目\u2028emoji 🐢\n"
    files.keep_text("default", "doc_1", "ab", text)
    assert files.text("default", "doc_1", "ab") == text


def test_removing_a_document_removes_all_of_its_files_and_only_those(files, tmp_path):
    for document in ("doc_1", "doc_2"):
        incoming = files.receive(io.BytesIO(b"text"), 10)
        files.keep(incoming, "default", document)
        files.keep_text("default", document, incoming.sha256, "text")
    files.remove_document("default", "doc_1")
    files.remove_document("default", "doc_1")
    assert {path.parent.name for path in everything(tmp_path)} == {"doc_2"}


def test_a_deletion_that_was_killed_while_it_removed_files_is_finished_by_the_next(files, tmp_path, monkeypatch):
    for document in ("doc_1", "doc_2"):
        files.keep_text("default", document, "aa", "text")

    def killed(_path):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            files.remove_document("default", "doc_1")
    assert files.count("default", "doc_1") == 1, "a proof of the deletion sees it"
    files.remove_document("default", "doc_1")
    assert files.count("default", "doc_1") == 0
    assert {path.parent.name for path in everything(tmp_path)} == {"doc_2"}


def test_removing_a_version_keeps_the_others(files):
    for digest in ("aa", "bb"):
        files.keep_text("default", "doc_1", digest, digest)
    files.remove_version("default", "doc_1", "aa")
    with pytest.raises(FileMissing):
        files.text("default", "doc_1", "aa")
    assert files.text("default", "doc_1", "bb") == "bb"


@pytest.mark.parametrize("name", ["../etc", "a/b", "", ".hidden", "a\0b"])
def test_nothing_outside_the_folder_can_be_named(files, name):
    with pytest.raises(BadInput):
        files.read("default", name, "ab")


def test_the_sweep_removes_old_arrivals_only(files, tmp_path):
    old, new = files.receive(io.BytesIO(b"old"), 10), files.receive(io.BytesIO(b"new"), 10)
    os.utime(old.path, (1000, 1000))
    os.utime(new.path, (5000, 5000))
    files.sweep(3600, 5000)
    assert everything(tmp_path) == [new.path]
