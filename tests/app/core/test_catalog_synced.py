"""Files of folders and their documents: taken and released in whatever order, nothing lost, nothing left behind."""

from datetime import timedelta

import pytest
from catalog_rig import TENANT, Clock, Library, ids_hash

from app.core.catalog import Catalog, Document, DocumentNotFound, Taken

SOURCE = "docs"


def take(catalog: Catalog, path: str, content: str, source: str = SOURCE) -> tuple[Document | None, Taken]:
    return catalog.take_file(TENANT, source, path, ids_hash(content), "text/plain", len(content), 1)


def taken(catalog: Catalog, path: str, content: str, source: str = SOURCE) -> Document:
    document, _ = take(catalog, path, content, source)
    assert document
    return document


def listed(catalog: Catalog) -> dict[str, str]:
    return {document.name: document.id for document in catalog.list_documents(TENANT).items}


def finish(catalog: Catalog, document: Document | None) -> None:
    assert document
    catalog.finish_delete(document.id)


def test_a_file_is_a_document_named_after_its_folder_and_path(catalog: Catalog) -> None:
    document, how = take(catalog, "a/b.md", "v1")
    assert document
    assert (document.name, document.collections, how) == ("docs/a/b.md", ("docs",), Taken.ADDED)
    (file,) = catalog.synced_files(TENANT, SOURCE).values()
    assert (file.path, file.sha256, file.document_id, file.owned, file.live) == (
        "a/b.md", ids_hash("v1"), document.id, True, True,
    )  # fmt: skip
    assert catalog.synced_files(TENANT, "other") == catalog.synced_files("other", SOURCE) == {}


def test_other_bytes_are_a_new_version_and_the_same_ones_nothing_new(catalog: Catalog, library: Library) -> None:
    document = taken(catalog, "a.md", "v1")
    library.publish(document, "text")
    changed, how = take(catalog, "a.md", "v2")
    assert changed
    assert (changed.id, how) == (document.id, Taken.CHANGED)
    assert changed.pending_version_id
    assert take(catalog, "a.md", "v2")[1] is Taken.KNOWN
    assert listed(catalog) == {"docs/a.md": document.id}


def test_a_file_that_is_gone_takes_its_document_with_it(catalog: Catalog) -> None:
    document = taken(catalog, "a.md", "v1")
    released = catalog.release_file(TENANT, SOURCE, "a.md")
    assert released.removed == document
    finish(catalog, released.removed)
    assert catalog.synced_files(TENANT, SOURCE) == {}
    with pytest.raises(DocumentNotFound):
        catalog.get_document(TENANT, document.id)
    assert catalog.release_file(TENANT, SOURCE, "a.md").removed is None


def test_a_deletion_tells_who_was_at_the_document(catalog: Catalog) -> None:
    document = taken(catalog, "a.md", "v1")
    catalog.claim(document.id, "worker", 60)
    removed = catalog.release_file(TENANT, SOURCE, "a.md").removed
    assert removed
    assert removed.claim_owner == "worker"


def test_what_somebody_added_by_hand_is_neither_removed_nor_renamed(catalog: Catalog, library: Library) -> None:
    by_hand = library.add("mine.md", "v1")
    assert taken(catalog, "a.md", "v1").id == by_hand.id
    assert not catalog.release_file(TENANT, SOURCE, "a.md").removed
    assert listed(catalog) == {"mine.md": by_hand.id}
    named_alike = library.add("docs/b.md", "other")
    assert take(catalog, "b.md", "new bytes")[1] is Taken.CHANGED
    assert not catalog.release_file(TENANT, SOURCE, "b.md").removed
    assert listed(catalog)["docs/b.md"] == named_alike.id


def test_a_renamed_file_keeps_its_document_which_takes_the_new_name(catalog: Catalog) -> None:
    document = taken(catalog, "old.md", "v1")
    assert take(catalog, "new.md", "v1") == (document, Taken.KNOWN)
    released = catalog.release_file(TENANT, SOURCE, "old.md")
    assert (released.removed, released.renamed) == (None, True)
    renamed = catalog.get_document(TENANT, document.id)
    assert (renamed.name, renamed.title) == ("docs/new.md", "new")
    assert catalog.release_file(TENANT, SOURCE, "new.md").removed, "it still is the sync's own"


def test_a_title_found_in_the_document_outlives_a_new_name(catalog: Catalog, library: Library) -> None:
    document = taken(catalog, "old.md", "v1")
    catalog.claim(document.id, "worker", 60)
    catalog.save_parsed(
        document.pending_version_id or "", owner="worker", title="Travel", media_type="text/plain", pages=None
    )
    take(catalog, "new.md", "v1")
    catalog.release_file(TENANT, SOURCE, "old.md")
    assert catalog.get_document(TENANT, document.id).title == "Travel"


def test_copies_are_one_document_until_the_last_is_gone(catalog: Catalog) -> None:
    document = taken(catalog, "a.md", "v1")
    assert taken(catalog, "b.md", "v1").id == taken(catalog, "c.md", "v1", "elsewhere").id == document.id
    assert not catalog.release_file(TENANT, SOURCE, "b.md").renamed, "it still has the name of a file"
    assert catalog.release_file(TENANT, SOURCE, "a.md").renamed
    assert listed(catalog) == {"elsewhere/c.md": document.id}
    assert catalog.get_document(TENANT, document.id).collections == ("docs", "elsewhere")
    assert catalog.release_file(TENANT, "elsewhere", "c.md").removed


def test_one_of_two_copies_that_changes_leaves_the_other_its_document(catalog: Catalog) -> None:
    document = taken(catalog, "a.md", "v1")
    take(catalog, "b.md", "v1")
    changed, how = take(catalog, "a.md", "v2")
    assert changed
    assert (changed.id != document.id, how) == (True, Taken.ADDED)
    assert listed(catalog) == {"docs/a.md": changed.id, "docs/b.md": document.id}


def test_a_name_used_anew_after_a_renaming_is_another_document(catalog: Catalog) -> None:
    document = taken(catalog, "a.md", "v1")
    take(catalog, "b.md", "v1")  # mv a.md b.md, and a new a.md
    new = taken(catalog, "a.md", "new")
    assert listed(catalog) == {"docs/a.md": new.id, "docs/b.md": document.id}


def test_two_files_that_change_places_change_names(catalog: Catalog) -> None:
    one, two = taken(catalog, "one.md", "1"), taken(catalog, "two.md", "2")
    assert taken(catalog, "one.md", "2").id == two.id
    assert taken(catalog, "two.md", "1").id == one.id
    for path in sorted(catalog.synced_files(TENANT, SOURCE)):
        if path.startswith("/"):
            assert not catalog.release_file(TENANT, SOURCE, path).removed
    assert listed(catalog) == {"docs/two.md": one.id, "docs/one.md": two.id}
    assert set(catalog.synced_files(TENANT, SOURCE)) == {"one.md", "two.md"}


def test_a_file_that_became_the_copy_of_another_leaves_a_document_to_remove(catalog: Catalog) -> None:
    one, two = taken(catalog, "one.md", "1"), taken(catalog, "two.md", "2")
    take(catalog, "one.md", "2")
    (former,) = (path for path in catalog.synced_files(TENANT, SOURCE) if path.startswith("/"))
    removed = catalog.release_file(TENANT, SOURCE, former).removed
    assert removed
    assert removed.id == one.id
    assert catalog.synced_files(TENANT, SOURCE)["one.md"].document_id == two.id


def test_bytes_that_are_about_to_be_replaced_where_they_are_wait(catalog: Catalog, library: Library) -> None:
    document = taken(catalog, "a.md", "v1")
    library.publish(document, "text")
    take(catalog, "a.md", "v2")
    assert take(catalog, "b.md", "v1") == (None, Taken.LATER)
    assert "b.md" not in catalog.synced_files(TENANT, SOURCE)
    restored, _ = take(catalog, "a.md", "v1")
    assert restored
    assert restored.pending_version_id is None, "its own file has them again"


def test_a_document_deleted_by_hand_comes_back_with_its_file(catalog: Catalog) -> None:
    document = taken(catalog, "a.md", "v1")
    catalog.begin_delete(TENANT, document.id)
    assert not catalog.synced_files(TENANT, SOURCE)["a.md"].live
    again, how = take(catalog, "a.md", "v1")
    assert again
    assert (again.id != document.id, how) == (True, Taken.ADDED)
    catalog.finish_delete(document.id)
    assert catalog.synced_files(TENANT, SOURCE)["a.md"].document_id == again.id


def test_a_sync_that_nobody_has_begun_is_not_asked_for_twice(catalog: Catalog) -> None:
    first = catalog.want_sync(TENANT, SOURCE)
    assert catalog.want_sync(TENANT, SOURCE) == first
    assert catalog.want_sync(TENANT, SOURCE, dry_run=True).id != first.id
    assert catalog.want_sync(TENANT, "elsewhere").id != first.id
    assert catalog.take_sync(TENANT, "worker", 60, first.id)
    assert catalog.want_sync(TENANT, SOURCE).id != first.id, "what it has looked at may have changed since"


def test_one_worker_at_a_time_is_at_a_folder_and_a_dead_ones_is_taken_up(catalog: Catalog, clock: Clock) -> None:
    first = catalog.want_sync(TENANT, SOURCE)
    clock.advance(1)
    second = catalog.want_sync(TENANT, SOURCE, dry_run=True)
    assert catalog.take_sync("other", "worker", 60) is None
    assert catalog.has_waiting_sync(TENANT)
    held = catalog.take_sync(TENANT, "worker", 60)
    assert held
    assert (held.id, held.running) == (first.id, True)
    assert catalog.take_sync(TENANT, "another", 60) is None, "the second is of the same folder"
    clock.advance(59)
    assert catalog.renew_sync(first.id, "worker", 60)
    clock.advance(59)
    assert catalog.take_sync(TENANT, "another", 60) is None
    clock.advance(2)
    taken_up = catalog.take_sync(TENANT, "another", 60)
    assert taken_up
    assert taken_up.id == first.id
    assert not catalog.renew_sync(first.id, "worker", 60)
    catalog.leave_sync(first.id, "worker", {"added": 9}, ended=True)
    assert catalog.get_sync(TENANT, first.id).ended_at is None, "it is another's"  # type: ignore[union-attr]
    catalog.leave_sync(first.id, "another", {"added": 1}, ended=True)
    ended = catalog.get_sync(TENANT, first.id)
    assert ended
    assert (ended.ended_at, ended.report, ended.running) == (clock.now, {"added": 1}, False)
    following = catalog.take_sync(TENANT, "worker", 60)
    assert following
    assert following.id == second.id


def test_the_last_ten_reports_of_a_folder_are_kept_and_what_waits(catalog: Catalog, clock: Clock) -> None:
    waiting = catalog.want_sync(TENANT, SOURCE, dry_run=True)
    other = catalog.want_sync(TENANT, "elsewhere", dry_run=True)
    for _ in range(12):
        clock.now += timedelta(seconds=1)
        sync = catalog.want_sync(TENANT, SOURCE)
        catalog.take_sync(TENANT, "worker", 60, sync.id)
        catalog.leave_sync(sync.id, "worker", {}, ended=True)
    kept = catalog.syncs(TENANT)
    assert kept[0].id == sync.id
    assert len([each for each in kept if each.ended_at]) == 10
    assert {waiting.id, other.id} <= {each.id for each in kept}
    assert catalog.syncs("other") == []
    assert catalog.get_sync("other", sync.id) is None
