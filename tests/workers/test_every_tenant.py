"""What workers do by themselves, they do for every tenant."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.core.catalog import Catalog, DocumentState, RunKind, RunState
from retrieval.qdrant_index import QdrantIndex
from workers.ingest import ingest
from workers.nightly import run_of_now, work_on
from workers.precompute import start_by_hand
from workers.preread import preread
from workers.reindex import Reindexing
from workers.tending import verify_sample
from workers.work import Work

OPERATOR, OTHER = "default", "elsewhere"
TEXT = "The lighthouse at {} was built in 1932 by eleven people, who stayed for the winter."
NIGHT = datetime(2026, 6, 2, 3, tzinfo=UTC)


@pytest.fixture
def context(context):
    ticks = iter(range(10**9))
    catalog = Catalog(context.settings.effective_database_url, lambda: NIGHT + timedelta(milliseconds=next(ticks)))
    yield replace(context, catalog=catalog, purge=replace(context.purge, catalog=catalog))
    catalog.close()


@pytest.fixture
def documents(context, add):
    """One of each tenant, pre-read."""
    found = {tenant: add("page.md", TEXT.format(tenant), tenant) for tenant in (OPERATOR, OTHER)}
    for document in found.values():
        assert ingest(document.id, context)
        assert not preread(document.id, context)
    return found


def lose_kv(context, documents):
    for tenant, document in documents.items():
        version = context.catalog.get_document(tenant, document.id).current_version_id
        hashes = {chunk.ids_hash for chunk in context.catalog.chunks_of(version)}
        context.store.delete(tenant, [reading.key for reading in context.catalog.readings(tenant, hashes)])


def night_of(context):
    """The tenants whose runs were gone on with, in this order, until nothing was left to do."""
    tenants = []
    while (run := run_of_now(context.catalog, context.settings, context.catalog._clock())) is not None:
        if run.tenant not in tenants:
            assert {each.id for each in context.catalog.open_runs()} == {run.id}, "one at a time"
            tenants.append(run.tenant)
        work_on(run, context, context.catalog._clock(), clock=iter(range(10**6)).__next__)
    return tenants


def test_each_tenant_has_a_run_of_its_own_every_night_the_operators_first(context, documents):
    lose_kv(context, documents)
    assert night_of(context) == [OPERATOR, OTHER]
    for tenant in documents:
        (run,) = context.catalog.runs(tenant)
        assert (run.kind, run.state, run.planned, run.done) == (RunKind.NIGHTLY, RunState.DONE, 1, 1)
    assert night_of(context) == [], "once a night"


def test_a_run_by_hand_of_one_tenant_goes_before_the_night_of_another(context, documents):
    lose_kv(context, documents)
    night = run_of_now(context.catalog, context.settings, context.catalog._clock())
    assert night.tenant == OPERATOR
    by_hand = start_by_hand(OTHER, None, again=False, catalog=context.catalog, waker=context.waker, lanes=1)
    assert run_of_now(context.catalog, context.settings, context.catalog._clock()).id == by_hand.id
    assert {run.tenant for run in context.catalog.open_runs()} == {OPERATOR, OTHER}


def test_all_windows_end_at_once(context, documents):
    for tenant in documents:
        context.catalog.start_run(tenant, RunKind.NIGHTLY, [documents[tenant].id], NIGHT + timedelta(minutes=1))
    late = NIGHT + timedelta(hours=9)
    assert run_of_now(context.catalog, context.settings, late) is None
    assert context.catalog.open_runs() == []


def test_the_machine_is_tended_once_a_night_by_the_operators_run(context, documents, monkeypatch):
    tended = []
    monkeypatch.setattr("workers.work.tend", lambda *_: tended.append(True) or {})
    monkeypatch.setattr("workers.work.datetime", type("Clock", (), {"now": lambda _zone: context.catalog._clock()}))
    work = Work(context)
    while run_of_now(context.catalog, context.settings, context.catalog._clock()) is not None:
        work.run()
    assert len(tended) == 1
    assert [context.catalog.run_count(tenant) for tenant in documents] == [1, 1]


def test_the_nightly_sample_of_blobs_reaches_every_tenant(context, documents, monkeypatch):
    for tenant, document in documents.items():
        monkeypatch.setattr("workers.tending.secrets.choice", lambda tenants, tenant=tenant: tenant)
        (chunk,) = context.catalog.chunks_of(context.catalog.get_document(tenant, document.id).current_version_id)
        (reading,) = context.catalog.readings(tenant, {chunk.ids_hash})
        for blob in (context.settings.effective_kv_dir / tenant).rglob(f"{reading.key}*"):
            blob.write_bytes(b"damage")
        assert verify_sample(context, NIGHT, first="0" * 64)["corrupt"] == 1
        assert context.catalog.get_document(tenant, document.id).state is DocumentState.INDEXED


def test_an_index_is_made_anew_for_every_tenant(context, documents, embedder):
    context.index.close()
    empty = QdrantIndex.open_local(context.settings.state_dir / "anew", embedder.dimension, "another")
    reindexing = Reindexing(context.catalog, empty, embedder, context.settings)
    assert reindexing.once()
    assert [empty.count(tenant) for tenant in (OPERATOR, OTHER)] == [1, 1]
    empty.close()
