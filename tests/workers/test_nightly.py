"""Runs: in the window, most asked for first, stopped at its end, resumed, and reported."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.core.catalog import Catalog, DocumentState, ReadingState, RunKind, RunState
from workers.ingest import ingest
from workers.nightly import run_of_now, sync_folders, work_on
from workers.precompute import read_missed, start_by_hand
from workers.preread import preread
from workers.upkeep import reconcile
from workers.work import Work

TENANT = "default"
MIDNIGHT = datetime(2026, 6, 2, tzinfo=UTC)


class Night:
    """A clock that a test sets, shared by the catalog and the worker; no two moments are the same."""

    def __init__(self):
        self.now = MIDNIGHT + timedelta(hours=3)

    def __call__(self):
        self.now += timedelta(microseconds=1)
        return self.now


@pytest.fixture
def night():
    return Night()


@pytest.fixture
def context(context, night):
    """The clock is the night's, and the window from 02:30 to 06:00 UTC."""
    catalog = Catalog(context.settings.effective_database_url, night)
    yield replace(context, catalog=catalog, purge=replace(context.purge, catalog=catalog))
    catalog.close()


@pytest.fixture
def documents(context, add):
    """Three documents that are pre-read; the third is asked for most."""
    found = []
    for name in ("a", "b", "c"):
        text = "\n\n".join(f"Rule {n} of {name}: whoever travels is paid {n} euros a day there." for n in range(9))
        document = add(f"{name}.md", text)
        assert ingest(document.id, context)
        assert not preread(document.id, context)
        found.append(document)
    asked = {found[2].id: (5, 5), found[0].id: (1, 0)}
    context.catalog.record_lookups(TENANT, {"disk": (6, 60)}, {"evicted": (5, 50)}, asked, context.catalog._clock())
    return found


def evict(context, *documents):
    """Chunk KV of these is gone from the store."""
    for document in documents:
        version = context.catalog.get_document(TENANT, document.id).current_version_id
        hashes = {chunk.ids_hash for chunk in context.catalog.chunks_of(version)}
        context.store.delete(TENANT, [reading.key for reading in context.catalog.readings(TENANT, hashes)])


def to_the_end(context, night, **options):
    """What the workers do until nothing is left to do now; the documents in the order they were begun."""
    begun = []
    while (run := run_of_now(context.catalog, context.settings, night())) is not None:
        following = context.catalog.next_of_run(run.id)
        if following and following[0] not in begun:
            begun.append(following[0])
        if not work_on(run, context, night(), clock=iter(range(10**6)).__next__, **options):
            return begun
    return begun


def state(context, document):
    return context.catalog.get_document(TENANT, document.id).state


def test_a_run_makes_what_is_missing_most_asked_for_first_and_reports_it(context, night, documents):
    evict(context, documents[0], documents[2])
    before = len(context.engine.captured)
    assert to_the_end(context, night) == [documents[2].id, documents[0].id, documents[1].id]
    (run,) = context.catalog.runs(TENANT)
    assert (run.kind, run.state) == (RunKind.NIGHTLY, RunState.DONE)
    assert (run.planned, run.done, run.skipped, run.failed, run.left) == (3, 2, 1, 0, 0)
    chunks = [
        chunk
        for document in (documents[0], documents[2])
        for chunk in context.catalog.chunks_of(context.catalog.get_document(TENANT, document.id).current_version_id)
    ]
    assert len(context.engine.captured) - before == len(chunks)
    assert run.tokens == sum(len(chunk.token_ids) for chunk in chunks)
    assert run.bytes > 0
    assert run.tokens_per_second > 0
    assert [state(context, document) for document in documents] == [DocumentState.PREREAD] * 3


def test_there_is_one_run_a_night_and_the_next_night_another(context, night, documents):
    to_the_end(context, night)
    night.now += timedelta(hours=1)
    assert run_of_now(context.catalog, context.settings, night()) is None
    night.now += timedelta(hours=24)
    assert run_of_now(context.catalog, context.settings, night()) is not None
    assert context.catalog.run_count(TENANT) == 2


def test_outside_of_the_window_no_run_begins_and_a_missed_start_is_made_up_inside(context, night, documents):
    for hours in (2, 6, 12):
        night.now = MIDNIGHT + timedelta(hours=hours)
        assert run_of_now(context.catalog, context.settings, night()) is None
    night.now = MIDNIGHT + timedelta(hours=29, minutes=59)
    reconcile(context, set(), night())
    assert context.catalog.open_run(TENANT).kind is RunKind.NIGHTLY
    assert context.waker.runs == 1
    reconcile(context, {("run", "")}, night())
    assert context.waker.runs == 1, "it is starved, not stuck"


def test_a_run_stops_with_its_window_and_what_is_left_is_not_done_by_day(context, night, documents):
    evict(context, *documents)

    def work(document_id, context, *, slice_seconds):
        ticks = iter(range(10**6))
        return preread(document_id, context, slice_seconds=1.5, clock=lambda: next(ticks))

    run = run_of_now(context.catalog, context.settings, night())
    assert work_on(run, context, night(), clock=iter(range(100)).__next__, work=work)
    assert state(context, documents[2]) is DocumentState.INDEXED
    made = context.catalog.open_run(TENANT).tokens
    assert made > 0

    night.now = MIDNIGHT + timedelta(hours=6)
    assert run_of_now(context.catalog, context.settings, night()) is None
    (stopped,) = context.catalog.runs(TENANT)
    assert (stopped.state, stopped.left, stopped.tokens) == (RunState.STOPPED, 3, made)
    assert reconcile(context, set(), night()) == 0, "it waits for the night"
    assert context.waker.runs == 0

    night.now = MIDNIGHT + timedelta(hours=27)
    assert reconcile(context, set(), night()) == 0, "a run takes it up again"
    assert to_the_end(context, night)[0] == documents[2].id
    assert [state(context, document) for document in documents] == [DocumentState.PREREAD] * 3
    assert sum(run.tokens for run in context.catalog.runs(TENANT)) == sum(
        len(chunk.token_ids)
        for document in documents
        for chunk in context.catalog.chunks_of(context.catalog.get_document(TENANT, document.id).current_version_id)
    ), "nothing is made twice"


def test_a_question_that_misses_what_waits_for_the_night_has_it_read_now(context, night, documents):
    run = run_of_now(context.catalog, context.settings, night())
    context.catalog.begin_of_run(run.id, documents[0].id)
    assert reconcile(context, set(), night()) == 0
    read_missed(TENANT, [documents[0].id], catalog=context.catalog, waker=context.waker)
    assert context.waker.woken == [("missed", documents[0].id)]
    assert reconcile(context, set(), night()) == 1


def test_a_slice_does_not_outlast_the_window(context, night, documents):
    seen = []

    def work(document_id, context, *, slice_seconds):
        seen.append(slice_seconds)
        return False

    night.now = MIDNIGHT + timedelta(hours=5, minutes=59, seconds=50)
    run = run_of_now(context.catalog, context.settings, night())
    work_on(run, context, night(), clock=iter(range(100)).__next__, work=work)
    assert seen == [pytest.approx(10, abs=0.1)]


def test_an_engine_that_is_away_leaves_the_run_open_and_one_that_does_not_fuse_ends_it(context, night, documents):
    run = run_of_now(context.catalog, context.settings, night())
    context.engine.up = False
    assert not work_on(run, context, night(), clock=iter(range(100)).__next__)
    assert context.catalog.open_run(TENANT) == run
    context.engine.up, context.engine.fusion = True, False
    assert not work_on(run, context, night(), clock=iter(range(100)).__next__)
    (ended,) = context.catalog.runs(TENANT)
    assert (ended.state, "untested" in ended.reason) == (RunState.STOPPED, True)


def test_uploads_failures_and_documents_in_work_are_told_and_left_alone(context, night, documents, add):
    assert context.catalog.claim(documents[0].id, "worker", 60)
    context.catalog.fail(documents[0].id, "worker", "preread_failed", "It could not be read.")
    context.catalog.request_preread(TENANT, [documents[1].id])
    to_the_end(context, night)
    (run,) = context.catalog.runs(TENANT)
    assert (run.done, run.skipped, run.failed) == (0, 2, 1)
    assert state(context, documents[1]) is DocumentState.INDEXED, "it waits in the queue by itself"


def test_a_document_that_fails_in_a_run_counts_as_failed(context, night, documents):
    evict(context, documents[1])
    version = context.catalog.get_document(TENANT, documents[1].id).current_version_id
    context.engine.fails = {tuple(chunk.token_ids) for chunk in context.catalog.chunks_of(version)}
    to_the_end(context, night)
    (run,) = context.catalog.runs(TENANT)
    assert (run.skipped, run.failed, run.state) == (2, 1, RunState.DONE)


def test_by_hand_everything_can_be_made_again_at_any_time_and_none_is_forgotten_before_its_turn(
    context, night, documents
):
    night.now = MIDNIGHT + timedelta(hours=12)
    count = len(context.engine.captured)
    run = start_by_hand(TENANT, None, again=True, catalog=context.catalog, waker=context.waker, lanes=2)
    assert (run.planned, context.waker.runs) == (3, 2)
    assert work_on(run, context, night(), clock=iter(range(100)).__next__)
    assert len(context.engine.captured) > count
    left = [document for document in documents if document.id in context.catalog.left_of_run(run.id)]
    assert len(left) == 2
    for document in left:
        version = context.catalog.get_document(TENANT, document.id).current_version_id
        hashes = {chunk.ids_hash for chunk in context.catalog.chunks_of(version)}
        keys = [reading.key for reading in context.catalog.readings(TENANT, hashes)]
        assert context.store.contains(TENANT, keys) == set(keys)
    to_the_end(context, night)
    (ended,) = context.catalog.runs(TENANT)
    assert (ended.state, ended.done, ended.skipped) == (RunState.DONE, 3, 0)


def test_of_two_workers_that_take_the_same_document_none_forgets_what_the_other_makes(
    context, night, documents, monkeypatch
):
    start_by_hand(TENANT, documents[0].id, again=True, catalog=context.catalog, waker=context.waker, lanes=2)
    run = context.catalog.open_run(TENANT)
    taken = context.catalog.next_of_run(run.id)

    def another_worker(_ids=None):
        context.engine.before.clear()
        with monkeypatch.context() as patch:
            patch.setattr(context.catalog, "next_of_run", lambda _run_id: taken)
            assert work_on(run, context, night(), clock=iter(range(9)).__next__)

    context.engine.before.append(another_worker)
    to_the_end(context, night)
    assert not context.engine.before, "the other worker came in the middle"
    made = len(context.engine.captured)
    another_worker()
    assert len(context.engine.captured) == made
    assert context.catalog.runs(TENANT)[0].done == 1
    version = context.catalog.get_document(TENANT, documents[0].id).current_version_id
    hashes = {chunk.ids_hash for chunk in context.catalog.chunks_of(version)}
    readings = context.catalog.readings(TENANT, hashes)
    assert {reading.ids_hash for reading in readings if reading.state is ReadingState.READY} == hashes
    assert context.store.contains(TENANT, [reading.key for reading in readings]) == {each.key for each in readings}


def test_a_run_whose_workers_were_killed_goes_on_when_their_claims_have_run_out(context, night, documents):
    evict(context, documents[2])
    run = run_of_now(context.catalog, context.settings, night())
    context.catalog.begin_of_run(run.id, documents[2].id)
    assert context.catalog.begin_attempt(documents[2].id, "preread", lambda _: 10)
    assert context.catalog.claim(documents[2].id, "killed", 30)
    to_the_end(context, night)
    assert context.catalog.left_of_run(run.id) == [documents[2].id]
    night.now += timedelta(seconds=31)
    reconcile(context, set(), night())
    assert context.waker.runs == 1
    to_the_end(context, night)
    assert context.catalog.runs(TENANT)[0].state is RunState.DONE
    assert state(context, documents[2]) is DocumentState.PREREAD


def test_a_night_begins_with_the_folders_and_reports_them(context, night, tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.md").write_text("Trains leave at nine.")
    run = run_of_now(context.catalog, context.settings, night())
    assert sync_folders(run, context, night()) == {}, "none is named"
    settings = context.settings.model_copy(update={"sync_folders": f"docs={tmp_path / 'folder'}"})
    monkeypatch.setattr("workers.work.tend", lambda *_: {"verified": {}})
    monkeypatch.setattr("workers.work.datetime", type("Now", (), {"now": staticmethod(lambda _zone: night())}))
    Work(replace(context, settings=settings)).run()
    (run,) = context.catalog.runs(TENANT)
    assert list(run.tended) == ["synced", "verified"]
    assert run.tended["synced"]["docs"]["added"] == 1
    assert [document.name for document in context.catalog.list_documents(TENANT).items] == ["docs/a.md"]
