"""Two tenants with the same text on the same tiers, database and index: each is as if the other were not there."""

import io
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from staging_engine import FINGERPRINT

from app.core.catalog import DocumentNotFound, DocumentState
from kvstore.levels import at_all_levels
from kvstore.store import Hit, Miss
from kvstore.tiers.disk import DiskTier
from workers.deletion import delete_document
from workers.ingest import ingest
from workers.missing import missing_readings
from workers.pieces import Pieces
from workers.preread import preread
from workers.tombstones import IN_FLIGHT
from workers.upkeep import reconcile

OURS, THEIRS = "default", "other"
TRAVEL = "\n\n".join(f"Rule {n}: whoever travels to town {n} is paid {40 + n} euros a day for meals." for n in range(8))


@pytest.fixture
def of(context):
    """The same places for another tenant."""

    def of(tenant):
        return replace(context, settings=context.settings.model_copy(update={"tenant": tenant}))

    return of


@pytest.fixture
def read(of):
    """A tenant's own document with the same bytes as everybody's, pre-read."""

    def read(tenant):
        context = of(tenant)
        incoming = context.files.receive(io.BytesIO(TRAVEL.encode()), 10**6)
        document, created = context.catalog.add_document(
            tenant, "travel.md", incoming.sha256, "text/plain", incoming.size_bytes
        )
        assert created
        context.files.keep(incoming, tenant, document.id)
        assert ingest(document.id, context)
        assert not preread(document.id, context)
        return document

    return read


def pieces(context, tenant, document):
    version = context.catalog.get_document(tenant, document.id).current_version_id
    found = Pieces(context, FINGERPRINT)
    return [*found.fixed(), *found.of(document, version)]


def delete(context, tenant, document):
    return delete_document(
        tenant, document.id, catalog=context.catalog, purge=context.purge, now=datetime.now(UTC)
    )


def test_chunk_kv_of_one_tenant_is_not_there_for_the_other(context, read):
    document = read(OURS)
    for piece in pieces(context, OURS, document):
        assert isinstance(context.store.get(OURS, piece.identity), Hit)
        assert isinstance(context.store.get(THEIRS, piece.identity), Miss)
    keys = [piece.identity.key for piece in pieces(context, OURS, document)]
    assert context.store.contains(OURS, keys) == set(keys)
    assert context.store.contains(THEIRS, keys) == set()
    assert context.store.sizes(THEIRS, at_all_levels(keys)) == {}


def test_what_one_tenant_has_read_is_read_for_the_other_all_the_same(context, read):
    read(OURS)
    count = len(context.engine.captures)
    read(THEIRS)
    assert len(context.engine.captures) == 2 * count


def test_documents_readings_and_counters_are_each_tenants_own(context, read):
    document = read(OURS)
    catalog = context.catalog
    hashes = {piece.identity.ids_hash for piece in pieces(context, OURS, document)}
    assert catalog.readings(OURS, hashes)
    assert catalog.readings(THEIRS, hashes) == []
    assert catalog.sharing_documents(THEIRS, hashes) == {}
    assert catalog.list_documents(THEIRS).total == 0
    with pytest.raises(DocumentNotFound):
        catalog.get_document(THEIRS, document.id)
    catalog.record_lookups(OURS, {"disk": (1, 10)}, {}, {document.id: (1, 0)}, datetime.now(UTC))
    assert (catalog.lookup_totals(OURS).lookups, catalog.lookup_totals(THEIRS).lookups) == (1, 0)
    assert catalog.kv_at_rest(OURS).bytes > 0 == catalog.kv_at_rest(THEIRS).bytes
    assert context.index.count(THEIRS) == 0


@pytest.mark.parametrize(("gone", "kept"), [(OURS, THEIRS), (THEIRS, OURS)])
def test_deleting_one_tenants_document_leaves_the_others(of, read, gone, kept):
    documents = {tenant: read(tenant) for tenant in (gone, kept)}
    context = of(gone)
    keys = [piece.identity.key for piece in pieces(context, kept, documents[kept])]
    chunks = [piece.identity.key for piece in Pieces(context, FINGERPRINT).of(
        documents[gone], context.catalog.get_document(gone, documents[gone].id).current_version_id
    )]  # fmt: skip
    assert delete(context, gone, documents[gone])
    for moment in (datetime.now(UTC), datetime.now(UTC) + IN_FLIGHT):
        assert context.store.contains(gone, chunks) == set()
        assert context.store.contains(kept, keys) == set(keys)
        reconcile(context, set(), moment)
    assert context.catalog.standing_tombstones(kept, keys) == []
    assert context.catalog.get_document(kept, documents[kept].id).state is DocumentState.PREREAD
    tier = DiskTier(context.settings.effective_kv_dir, context.settings.kv_disk_bytes)
    assert list(missing_readings(context.catalog, [tier])) == []


def test_nobody_deletes_or_verifies_another_tenants_document(context, read):
    document = read(OURS)
    with pytest.raises(DocumentNotFound):
        delete(context, THEIRS, document)
    delete(context, OURS, document)
    assert context.catalog.tombstones_of(THEIRS, document.id) == []
