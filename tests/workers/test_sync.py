"""A folder and its documents in step, whatever is done to the folder."""

import os
from dataclasses import replace

import pytest
from folder_rig import TENANT, bytes_of, did, listed, text_of

from workers.ingest import ingest
from workers.sync_reading import Unsteady, read_steady

NOTHING = {"documents": 0, "vectors": 0, "files": 0, "kv": 0, "staged": 0}


@pytest.fixture
def context(context, folder):
    settings = context.settings.model_copy(update={"sync_folders": f"docs={folder.root}"})
    return replace(context, settings=settings)


def test_new_files_are_added_changed_ones_renewed_and_those_that_are_gone_removed(context, folder, sync, leftovers):
    folder.write("a.md", "Trains leave at nine.")
    folder.write("sub/b.md", "Lunch is at noon.")
    assert did(sync()) == {"added": 2}
    first = listed(context)
    assert first.keys() == {"docs/a.md", "docs/sub/b.md"}
    assert first["docs/a.md"].collections == ("docs",)
    assert {task for task, _ in context.waker.woken} == {"ingest"}
    assert "nine" in text_of(context, "docs/a.md")
    text_of(context, "docs/sub/b.md")

    folder.write("a.md", "Trains leave at ten.")
    assert did(sync()) == {"changed": 1, "unchanged": 1}
    assert listed(context)["docs/a.md"].id == first["docs/a.md"].id
    assert "ten" in text_of(context, "docs/a.md")

    (folder.root / "sub/b.md").unlink()
    assert did(sync()) == {"removed": 1, "unchanged": 1}
    assert listed(context).keys() == {"docs/a.md"}
    assert leftovers()["files"] == 2, "the file of the other and its text"


def test_a_second_sync_changes_nothing_and_reads_nothing(context, folder, sync, monkeypatch):
    folder.fill(3)
    sync()
    monkeypatch.setattr("workers.sync_folder.read_steady", lambda *_: pytest.fail("a file was read"))
    assert did(sync()) == {"unchanged": 3}


def test_a_file_that_was_only_touched_is_as_it_was(context, folder, sync):
    folder.fill(2)
    sync()
    before = listed(context)
    folder.touch("00.md")
    assert did(sync()) == {"unchanged": 2}
    assert listed(context) == before
    known = context.catalog.synced_files(TENANT, "docs")["00.md"]
    assert known.mtime_ns == (folder.root / "00.md").stat().st_mtime_ns


def test_a_change_within_the_same_tick_of_the_clock_is_seen(context, folder, sync):
    path = folder.root / "a.md"
    path.write_text("Version one.")
    sync()
    status = path.stat()
    path.write_text("Version two.")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert did(sync()) == {"changed": 1}


def test_hidden_files_and_unknown_types_are_passed_over(folder, sync, context):
    for name in ("a.md", ".hidden.md", ".git/b.md", "c.mp4", "sub/.d/e.md", "F.PDF"):
        folder.write(name, f"Text of {name}")
    assert sync()["files"] == 2
    assert listed(context).keys() == {"docs/a.md", "docs/F.PDF"}


def test_links_lead_nowhere_out_of_the_folder(folder, sync, context, tmp_path):
    secret = tmp_path / "secret.md"
    secret.write_text("The vault is blue.")
    folder.write(".versions/7/a.md", "Trains leave at nine.")
    (folder.root / "a.md").symlink_to(".versions/7/a.md")
    (folder.root / "out.md").symlink_to(secret)
    (folder.root / "up").symlink_to("..")
    (folder.root / "dangling.md").symlink_to("nowhere.md")
    os.mkfifo(folder.root / "pipe.md")
    assert did(sync()) == {"added": 1}
    assert listed(context).keys() == {"docs/a.md"}


def test_a_file_that_becomes_a_link_out_of_the_folder_while_it_is_read_is_not_taken(folder, tmp_path):
    secret = tmp_path / "secret.md"
    secret.write_text("The vault is blue.")
    (folder.root / "a.md").symlink_to(secret)
    with pytest.raises(Unsteady):
        read_steady(folder.root, "a.md", lambda file: file.read())


def test_a_file_that_changes_while_it_is_read_is_taken_the_next_time(context, folder, sync, monkeypatch, leftovers):
    folder.write("a.md", "Half of it")
    receive = context.files.receive

    def writing(source, limit):
        incoming = receive(source, limit)
        folder.write("a.md", "Half of it, and the other half.")
        return incoming

    with monkeypatch.context() as patch:
        patch.setattr(context.files, "receive", writing)
        assert did(sync()) == {"later": 1}
    assert leftovers()["documents"] == 0
    assert did(sync()) == {"added": 1}
    assert "other half" in text_of(context, "docs/a.md")


@pytest.mark.parametrize("to", ["z.md", "0.md", "sub/a.md"])
def test_a_renamed_file_keeps_its_document_under_the_new_name(context, folder, sync, to):
    folder.write("a.md", "Trains leave at nine.")
    folder.write("b.md", "Lunch is at noon.")
    sync()
    document = listed(context)["docs/a.md"]
    (folder.root / to).parent.mkdir(exist_ok=True)
    (folder.root / "a.md").rename(folder.root / to)
    assert did(sync()) == {"known": 1, "renamed": 1, "unchanged": 1}
    assert listed(context).keys() == {f"docs/{to}", "docs/b.md"}
    assert listed(context)[f"docs/{to}"].id == document.id
    assert did(sync()) == {"unchanged": 2}


def test_a_renamed_folder_is_no_mass_removal(context, folder, sync):
    for n in range(15):
        folder.write(f"old/{n}.md", f"Rule {n} is short.")
    sync()
    before = {document.id for document in listed(context).values()}
    (folder.root / "old").rename(folder.root / "new")
    assert did(sync()) == {"known": 15, "renamed": 15}
    assert {document.id for document in listed(context).values()} == before
    assert all(name.startswith("docs/new/") for name in listed(context))


def test_rotated_files_end_with_every_text_under_its_name(context, folder, sync):
    texts = {}
    for turn in range(3):
        for n in (2, 1):
            if (folder.root / f"log.{n - 1}.txt").exists():
                (folder.root / f"log.{n - 1}.txt").rename(folder.root / f"log.{n}.txt")
                folder.touch(f"log.{n}.txt")
        folder.write("log.0.txt", f"What happened in turn {turn}.")
        texts = {f"docs/{path.name}": path.read_text() for path in folder.root.iterdir()}
        for _ in range(3):
            sync()
            for document in listed(context).values():
                if document.pending_version_id:
                    ingest(document.id, context)
        assert {name: bytes_of(context, name).decode() for name in listed(context)} == texts


def test_a_document_of_somebody_else_is_never_removed(context, folder, sync, add):
    by_hand = add("mine.md", "Trains leave at nine.")
    folder.write("a.md", "Trains leave at nine.")
    folder.write("b.md", "Lunch is at noon.")
    assert did(sync()) == {"known": 1, "added": 1}
    (folder.root / "a.md").unlink()
    assert did(sync()) == {"unchanged": 1}
    assert listed(context)["mine.md"].id == by_hand.id


@pytest.mark.parametrize("state", ["gone", "empty", "only hidden", "a file"])
def test_a_folder_that_is_not_there_or_empty_removes_nothing_and_says_so(context, folder, sync, state):
    folder.fill(3)
    sync()
    (folder.root).rename(folder.root.with_name("unmounted"))
    if state != "gone":
        folder.root.touch() if state == "a file" else folder.root.mkdir()
    if state == "only hidden":
        folder.write(".hidden.md", "Nothing.")
    for remove_many in (False, True):
        report = sync(remove_many=remove_many)
        assert "Nothing was removed" in report["problem"]
        assert "mounted" in report["problem"]
    assert len(listed(context)) == 3


def test_what_lies_below_a_folder_that_cannot_be_read_is_not_gone(context, folder, sync, monkeypatch):
    folder.fill(2)
    folder.write("private/a.md", "Salaries are secret.")
    sync()
    scandir = os.scandir

    def refusing(path):
        if str(path).rstrip("/").endswith("private"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr("os.scandir", refusing)  # the tests may run as root, whom nothing is forbidden
    assert did(sync()) == {"unchanged": 2}
    (folder.root / "private/a.md").unlink()  # for all that can be seen it may be there
    assert did(sync()) == {"unchanged": 2}
    assert len(listed(context)) == 3
    monkeypatch.undo()
    assert did(sync()) == {"removed": 1, "unchanged": 2}


def test_when_most_of_the_files_are_gone_nothing_is_removed_unless_it_is_meant(context, folder, sync):
    folder.fill(21)
    sync()
    for n in range(11):
        (folder.root / f"{n:02}.md").unlink()
    for n in range(5):
        folder.write(f"new {n}.md", f"Something new, no. {n}.")
    report = sync()
    assert did(report) == {"added": 5, "unchanged": 10, "to_remove": 11}
    assert "11 of 21" in report["problem"]
    assert "--remove-many" in report["problem"]
    assert len(listed(context)) == 26
    assert did(sync(remove_many=True)) == {"removed": 11, "unchanged": 15}
    assert len(listed(context)) == 15


def test_few_or_less_than_half_are_removed_without_asking(context, folder, sync):
    folder.fill(10)
    sync()
    for n in range(9):
        (folder.root / f"{n:02}.md").unlink()
    assert did(sync()) == {"removed": 9, "unchanged": 1}


def test_files_that_cannot_be_documents_are_told_and_keep_nothing_from_the_others(context, folder, sync):
    folder.write("a.md", "Trains leave at nine.")
    folder.write("empty.md", "")
    folder.write("large.md", "x")
    folder.write("good.md", "Lunch is at noon.")
    sync()
    os.truncate(folder.root / "large.md", context.settings.max_upload_bytes + 1)
    (folder.root / os.fsdecode(b"\xff.md")).write_text("Latin")
    folder.write("/".join(["d" * 200] * 10) + "/long.md", "Deep down.")
    report = sync()
    assert report["refused"] == {"empty_file": 1, "file_too_large": 1, "unstorable_text": 1, "bad_name": 1}
    assert {refusal["path"] for refusal in report["refusals"]} >= {"empty.md", "large.md", "?.md"}
    assert all(refusal["message"] for refusal in report["refusals"])
    assert "docs/large.md" in listed(context), "the version before it stays"
    assert did(report) == {"unchanged": 2}


def test_a_dry_run_tells_what_would_be_done_and_does_nothing(context, folder, sync, leftovers):
    for name in ("a", "b", "c", "d"):
        folder.write(f"{name}.md", f"Text of {name}.")
    assert did(sync(dry_run=True)) == {"added": 4}
    assert leftovers() == NOTHING
    sync()
    before, files = listed(context), leftovers()
    folder.write("a.md", "Changed text of a.")
    (folder.root / "b.md").rename(folder.root / "moved.md")
    (folder.root / "c.md").unlink()
    folder.write("new.md", "New text.")
    folder.write("empty.md", "")
    report = sync(dry_run=True)
    assert did(report) == {"changed": 1, "known": 1, "renamed": 1, "added": 1, "to_remove": 1, "unchanged": 1}
    assert (report["refused"], report["problem"]) == ({"bad_input": 1}, None)
    assert (listed(context), leftovers()) == (before, files)
