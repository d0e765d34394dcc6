import os
from datetime import UTC, datetime, timedelta

import pytest

from app.core.catalog import DocumentNotFound, DocumentState
from retrieval.errors import IndexUnavailable
from workers.claim import claimed
from workers.deletion import delete_document, finish_deletion_of
from workers.ingest import ingest
from workers.preread import preread
from workers.upkeep import reconcile

TENANT = "default"


def later(seconds=0):
    return datetime.now(UTC) + timedelta(seconds=seconds)


def test_reconcile_wakes_what_was_forgotten_and_nothing_else(context, add):
    received = add("a.md", "The first rule is short.")
    indexed = add("b.md", "The second rule is short.")
    done = add("c.md", "The third rule is short.")
    failed = add("d.md", " ")
    for document in (indexed, done, failed):
        ingest(document.id, context)
    preread(done.id, context)
    assert reconcile(context, set(), later()) == 2
    assert set(context.waker.woken) == {("ingest", received.id), ("preread", indexed.id)}


def test_reconcile_does_not_repeat_what_waits_in_the_queue(context, add):
    document = add("a.md", "The first rule is short.")
    assert reconcile(context, {("ingest", document.id)}, later()) == 0


def test_a_document_is_retaken_only_when_its_workers_lease_has_run_out(context, add):
    document = add("a.md", "The first rule is short.")
    with claimed(context.catalog, document.id, 60):
        assert reconcile(context, set(), later()) == 0
        assert reconcile(context, set(), later(61)) == 1


def test_a_claim_is_renewed_for_as_long_as_the_work_lasts(context, add):
    document = add("a.md", "The first rule is short.")
    with claimed(context.catalog, document.id, 0.3) as claim:
        first = context.catalog.get_document(TENANT, document.id).claim_until
        deadline = later(10)
        while context.catalog.get_document(TENANT, document.id).claim_until < first + timedelta(seconds=0.5):
            assert datetime.now(UTC) < deadline
        claim.check()
    assert context.catalog.get_document(TENANT, document.id).claim_owner is None


def test_a_deletion_that_a_dead_index_stopped_is_finished_later(context, add, leftovers, monkeypatch):
    document = add("a.md", "The first rule is short.")
    ingest(document.id, context)
    preread(document.id, context)

    def down(tenant, document_id):
        raise IndexUnavailable("The index does not answer.")

    monkeypatch.setattr(context.index, "delete_document", down)
    assert not delete_document(TENANT, document.id, catalog=context.catalog, purge=context.purge, now=later())
    assert context.catalog.get_document(TENANT, document.id).state is DocumentState.DELETING
    reconcile(context, set(), later())
    assert leftovers()["documents"] == 1, "still down: still to be deleted"
    monkeypatch.undo()
    reconcile(context, set(), later())
    assert leftovers() == {"documents": 0, "vectors": 0, "files": 0, "kv": 0, "staged": 0}


def test_rows_of_a_document_deleted_under_a_workers_hands_stay_until_the_work_has_stopped(context, add):
    document = add("a.md", "The first rule is short.")
    with claimed(context.catalog, document.id, 60):
        assert not delete_document(TENANT, document.id, catalog=context.catalog, purge=context.purge, now=later())
    finish_deletion_of(document.id, catalog=context.catalog, purge=context.purge, now=later())
    with pytest.raises(DocumentNotFound):
        context.catalog.get_document(TENANT, document.id)


def test_old_leftovers_of_crashes_are_swept(context):
    staging = context.settings.effective_staging_dir
    staging.mkdir(parents=True)
    old = staging / f"{'ab' * 32}.safetensors"
    old.write_bytes(b"half")
    os.utime(old, (1000, 1000))
    reconcile(context, set(), later())
    assert not old.exists()
