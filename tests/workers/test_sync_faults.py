"""A folder and its documents in step in the end, whatever ends a sync, and whoever else is at it."""

import threading
from dataclasses import replace

import pytest
from folder_rig import TENANT, an_hour_later, bytes_of, did, listed, text_of

from app.core.catalog import Catalog, DocumentState
from app.core.errors import Unavailable
from retrieval.errors import IndexUnavailable
from workers.claim import claimed
from workers.sync import sync_all, sync_next
from workers.upkeep import reconcile


@pytest.fixture
def context(context, folder):
    settings = context.settings.model_copy(update={"sync_folders": f"docs={folder.root}"})
    return replace(context, settings=settings)


@pytest.mark.parametrize("at", range(1, 12))
def test_a_sync_that_is_ended_anywhere_is_made_up_for_by_the_next(context, folder, sync, monkeypatch, at):
    """`at`: which call of the catalog or of the document's files is the last before the end."""
    folder.fill(3)
    sync()
    (folder.root / "00.md").rename(folder.root / "moved.md")
    folder.write("01.md", "Another text.")
    (folder.root / "02.md").unlink()
    folder.write("new.md", "New text.")

    class Killed(BaseException):
        pass

    calls = iter(range(1, 1000))

    def deadly(method):
        def call(*args, **options):
            if next(calls) == at:
                raise Killed
            return method(*args, **options)

        return call

    asked = context.catalog.want_sync(TENANT, "docs")
    with monkeypatch.context() as patch:
        for owner, names in (
            (context.catalog, ("take_file", "release_file", "finish_delete", "leave_sync")),
            (context.files, ("receive", "keep", "discard", "remove_document")),
        ):
            for name in names:
                patch.setattr(owner, name, deadly(getattr(owner, name)))
        with pytest.raises(Killed):
            sync_next(context)
    later = replace(context, catalog=Catalog(context.settings.effective_database_url, an_hour_later))
    while sync_next(later):  # the lease of the dead one has run out
        pass
    assert context.catalog.get_sync(TENANT, asked.id).ended_at
    sync()
    reconcile(later, set(), an_hour_later())
    later.catalog.close()
    assert {name: bytes_of(context, name) for name in listed(context)} == {
        f"docs/{path.name}": path.read_bytes() for path in folder.root.iterdir()
    }
    kept = context.catalog.synced_files(TENANT, "docs")
    assert {path: file.owned for path, file in kept.items()} == dict.fromkeys(("01.md", "moved.md", "new.md"), True)


def test_a_long_sync_goes_on_in_slices_and_counts_all_of_them(context, folder):
    folder.fill(5)
    asked = context.catalog.want_sync(TENANT, "docs")
    ticks = iter(range(1000))
    slices = 0
    while context.catalog.get_sync(TENANT, asked.id).ended_at is None:
        assert sync_next(context, slice_seconds=1, clock=lambda: next(ticks))
        slices += 1
    assert slices > 2
    report = context.catalog.get_sync(TENANT, asked.id).report
    assert (report["added"], report["unchanged"]) == (5, 0)


def test_a_sync_whose_lease_was_lost_stops_before_the_next_file(context, folder, monkeypatch):
    folder.fill(5)
    short = replace(context, settings=context.settings.model_copy(update={"lease_seconds": 0.03}))
    monkeypatch.setattr(context.catalog, "renew_sync", lambda *_: False)
    receive, took, lost = context.files.receive, [], threading.Event()

    def slow(source, limit):
        took.append(1)
        for thread in threading.enumerate():
            if thread.name.startswith("sync-"):
                thread.join(30)  # it ends when it has seen that the lease is lost
        lost.set()
        return receive(source, limit)

    monkeypatch.setattr(context.files, "receive", slow)
    context.catalog.want_sync(TENANT, "docs")
    sync_next(short)
    assert lost.is_set()
    assert len(took) == 1
    assert context.catalog.has_waiting_sync(TENANT)


def test_two_syncs_at_once_do_the_work_of_one(context, folder):
    folder.fill(8)
    other = replace(context, settings=context.settings.model_copy(update={"sync_folders": f"docs={folder.root}"}))
    context.catalog.want_sync(TENANT, "docs")
    threads = [threading.Thread(target=sync_next, args=(each,)) for each in (context, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(listed(context)) == 8
    assert len(context.catalog.synced_files(TENANT, "docs")) == 8


def test_a_removal_that_cannot_finish_is_hidden_at_once_and_finished_by_repair(
    context, folder, sync, monkeypatch, leftovers
):
    folder.fill(2)
    sync()
    for name in list(listed(context)):
        text_of(context, name)

    def down(*_):
        raise IndexUnavailable("The index does not answer.")

    (folder.root / "00.md").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(context.index, "delete_document", down)
        assert did(sync())["removed"] == 1
    assert listed(context)["docs/00.md"].state is DocumentState.DELETING
    reconcile(context, set(), context.catalog._clock())
    assert listed(context).keys() == {"docs/01.md"}


def test_a_document_that_a_worker_is_at_is_left_to_its_deletion(context, folder, sync):
    folder.fill(2)
    sync()
    document = listed(context)["docs/00.md"]
    (folder.root / "00.md").unlink()
    with claimed(context.catalog, document.id, 60):
        sync()
        assert ("delete", document.id) in context.waker.woken
        assert context.catalog.get_document(TENANT, document.id).state is DocumentState.DELETING


def test_a_document_deleted_by_hand_comes_back_while_its_file_is_there(context, folder, sync):
    folder.fill(1)
    sync()
    document = listed(context)["docs/00.md"]
    context.catalog.begin_delete(TENANT, document.id)
    context.purge.document(context.catalog.get_document(TENANT, document.id))
    context.catalog.finish_delete(document.id)
    assert did(sync()) == {"added": 1}


def test_a_file_that_never_reached_its_document_is_read_again(context, folder, sync):
    folder.fill(1)
    sync()
    document = listed(context)["docs/00.md"]
    context.files.remove_document(TENANT, document.id)
    with claimed(context.catalog, document.id, 60) as claim:
        context.catalog.fail(document.id, claim.owner, "file_missing", "It never arrived.")
    sync()
    assert listed(context)["docs/00.md"].state is DocumentState.RECEIVED
    assert text_of(context, "docs/00.md")


def test_reconcile_wakes_a_worker_for_a_sync_that_waits_and_not_twice(context, folder):
    reconcile(context, set(), context.catalog._clock())
    assert context.waker.syncs == 0
    context.catalog.want_sync(TENANT, "docs")
    reconcile(context, set(), context.catalog._clock())
    reconcile(context, {("sync", "")}, context.catalog._clock())
    assert context.waker.syncs == 1


def test_a_folder_that_the_setting_no_longer_names_ends_with_that(context, folder):
    asked = context.catalog.want_sync(TENANT, "former")
    assert sync_next(context)
    assert "PREREAD_SYNC_FOLDERS" in context.catalog.get_sync(TENANT, asked.id).report["problem"]


def test_a_sync_that_breaks_off_says_so_and_is_not_repeated_for_ever(context, folder, sync, monkeypatch):
    folder.fill(1)
    monkeypatch.setattr("workers.sync_folder.to_take", lambda *_: 1 / 0)
    assert "ZeroDivisionError" in sync()["problem"]
    assert not context.catalog.has_waiting_sync(TENANT)


def test_a_sync_waits_while_the_database_does_not_answer(context, folder, monkeypatch):
    folder.fill(1)
    asked = context.catalog.want_sync(TENANT, "docs")

    def away(*_):
        raise Unavailable("The database does not answer.")

    with monkeypatch.context() as patch:
        patch.setattr(context.catalog, "synced_files", away)
        with pytest.raises(Unavailable):
            sync_next(context)
    assert context.catalog.get_sync(TENANT, asked.id).ended_at is None
    assert sync_next(context)
    assert context.catalog.get_sync(TENANT, asked.id).ended_at


def test_every_folder_is_in_the_report_of_the_night(context, folder, tmp_path):
    folder.fill(2)
    folders = f"docs={folder.root};missing={tmp_path / 'nowhere'}"
    both = replace(context, settings=context.settings.model_copy(update={"sync_folders": folders}))
    reports = sync_all(both, 60)
    assert reports["docs"]["added"] == 2
    assert "cannot be read" in reports["missing"]["problem"]
    assert not context.catalog.has_waiting_sync(TENANT)


def test_what_the_night_has_no_time_for_is_gone_on_with(context, folder):
    folder.fill(2)
    assert "not finished" in sync_all(context, -1)["docs"]["problem"]
    assert context.catalog.has_waiting_sync(TENANT)
