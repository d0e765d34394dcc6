"""What belongs to nothing in the catalog is found, a few at a time, and removed; everything else stays."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from app.core.catalog import Catalog
from retrieval.errors import IndexUnavailable
from retrieval.index import IndexedChunk, Scope
from retrieval.nearness import Question
from workers.ingest import ingest
from workers.orphans import Orphans, Removed
from workers.preread import preread

TENANT = "default"
LATER = timedelta(hours=2)


def later():
    return datetime.now(UTC) + LATER


@pytest.fixture
def document(context, add):
    document = add("travel.md", "\n\n".join(f"Rule {n}: whoever travels is paid {n} euros a day." for n in range(60)))
    assert ingest(document.id, context)
    assert not preread(document.id, context)
    return document


def put_vectors(context, document_id, version, count=3, tenant=TENANT):
    vectors = context.embedder.embed_texts([f"Late {number}." for number in range(count)])
    context.index.upsert(
        [
            IndexedChunk(
                f"chk_{tenant}_{document_id}_{version}_{n}", document_id, version, tenant, n, f"Late {n}.", vector
            )
            for n, vector in enumerate(vectors)
        ]
    )


def version_of(context, document):
    return context.catalog.get_document(document.tenant, document.id).current_version_id


def test_whatever_belongs_to_a_document_stays(context, document, leftovers, add):
    add("waiting.md", "It is not read yet.")
    before = leftovers()
    orphans = Orphans()
    assert [orphans.remove(context, later()) for _ in range(4)] == [Removed()] * 4
    assert leftovers() == before


def test_vectors_of_documents_and_versions_that_are_gone_are_removed(context, document, leftovers):
    before = leftovers()
    put_vectors(context, "doc_gone", "ver_gone")
    put_vectors(context, document.id, "ver_replaced")
    assert leftovers()["vectors"] == before["vectors"] + 6
    assert Orphans().remove(context, datetime.now(UTC)).vectors == 6
    assert leftovers() == before


def test_vectors_of_another_tenant_are_looked_at_too(context, document, leftovers):
    before = leftovers()
    put_vectors(context, "doc_gone", "ver_gone", tenant="globex")
    put_vectors(context, document.id, version_of(context, document), tenant="globex")
    put_vectors(context, "doc_other", version_of(context, document))
    theirs, _ = context.catalog.add_document("globex", "theirs.md", "ab" * 32, "text/plain", 4)
    put_vectors(context, theirs.id, context.catalog.get_document("globex", theirs.id).pending_version_id, 2, "globex")
    assert Orphans().remove(context, datetime.now(UTC)).vectors == 9
    assert leftovers() == before
    assert context.index.count("globex") == context.index.count("globex", theirs.id) == 2


def test_vectors_that_an_ingest_has_put_in_before_it_publishes_stay(context, add, monkeypatch):
    document = add("travel.md", "\n\n".join(f"Rule {n}: towns of size {n} cost {n} euros a day." for n in range(99)))
    looks, real = [], context.index.upsert

    def upsert_and_look(chunks):
        real(chunks)
        looks.append((Orphans().remove(context, later()).vectors, context.index.count(TENANT)))

    monkeypatch.setattr(context.index, "upsert", upsert_and_look)
    assert ingest(document.id, context)
    assert len(looks) > 1, "more than one batch"
    assert {removed for removed, _ in looks} == {0}
    assert looks[-1][1] == len(context.catalog.chunks_of(version_of(context, document)))


def test_vectors_are_looked_at_a_few_at_a_time(context, document, leftovers, monkeypatch):
    monkeypatch.setattr("workers.orphans._VECTORS", 2)
    monkeypatch.setattr("workers.orphans._VECTOR_PAGES", 2)
    before = leftovers()
    put_vectors(context, "doc_gone", "ver_gone", 1)
    put_vectors(context, document.id, "ver_replaced", 9)
    looks, real = [], context.index.holdings
    monkeypatch.setattr(
        context.index, "holdings", lambda after, limit: looks.append((after, limit)) or real(after, limit)
    )
    orphans = Orphans()
    orphans.remove(context, later())
    assert [limit for _, limit in looks] == [2, 2]
    for _ in range(leftovers()["vectors"]):
        orphans.remove(context, later())
    assert leftovers() == before


def test_a_catalog_that_knows_none_of_many_versions_removes_no_vectors(context, document, tmp_path, leftovers):
    for number in range(11):
        put_vectors(context, f"doc_{number}", f"ver_{number}", 1)
    before = leftovers()
    other = Catalog(f"sqlite:///{tmp_path}/other.db")
    other.migrate()
    assert Orphans().remove(replace(context, catalog=other), datetime.now(UTC)).vectors == 0
    other.close()
    assert leftovers() == before
    assert Orphans().remove(context, datetime.now(UTC)).vectors == 11


def test_labels_that_the_index_does_not_have_right_are_put_right(context, document):
    context.catalog.set_labels(TENANT, document.id, ["press"], ["new"])
    context.index.label(TENANT, document.id, ["staff"], [])
    assert Orphans().remove(context, datetime.now(UTC)).vectors == 0
    question = Question("travel", context.embedder.embed_query("travel"))
    assert context.index.search(TENANT, question, 3, Scope(collections=("staff",))) == []
    assert len(context.index.search(TENANT, question, 3, Scope(collections=("press",), tags=("new",)))) == 3


def test_files_of_documents_and_versions_that_are_gone_are_removed_once_they_are_old(context, document, leftovers):
    before = leftovers()
    files = context.settings.files_dir / TENANT
    (files / "doc_gone").mkdir()
    for name in (f"doc_gone/{'a' * 64}", f"doc_gone/{'a' * 64}.txt", f"{document.id}/{'b' * 64}"):
        (files / name).write_text("left behind")
    orphans = Orphans()
    assert orphans.remove(context, datetime.now(UTC)).files == 0, "who has just written it may not have told yet"
    assert Orphans().remove(context, later()).files == 3
    assert leftovers() == before
    assert not (files / "doc_gone").exists()


def test_a_long_search_for_files_goes_on_where_it_stopped(context, document, leftovers, monkeypatch):
    monkeypatch.setattr("workers.orphans._FILES", 2)
    before = leftovers()
    folder = context.settings.files_dir / TENANT / "doc_gone"
    folder.mkdir()
    for number in range(9):
        (folder / f"{number:064x}").write_text("left behind")
    orphans = Orphans()
    removed = [orphans.remove(context, later()).files for _ in range(6)]
    assert sum(removed) == 9
    assert max(removed) == 2
    assert leftovers() == before


def test_blobs_that_nobody_wants_are_removed_once_they_are_old(context, document, leftovers):
    version = context.catalog.get_document(TENANT, document.id).current_version_id
    hashes = {chunk.ids_hash for chunk in context.catalog.chunks_of(version)}
    unwanted = [reading.key for reading in context.catalog.readings(TENANT, hashes)][:2]
    before = leftovers()["kv"]
    context.catalog.drop_readings(TENANT, unwanted)
    assert Orphans().remove(context, datetime.now(UTC)).blobs == 0
    assert Orphans().remove(context, later()).blobs == 2
    assert leftovers()["kv"] == before - 2


def test_a_catalog_that_knows_none_of_many_blobs_removes_none(context, document, tmp_path, leftovers):
    before = leftovers()["kv"]
    assert before > 10, "more than are removed blindly"
    other = Catalog(f"sqlite:///{tmp_path}/other.db")
    other.migrate()
    Orphans()._remove_blobs(replace(context, catalog=other), later().timestamp())
    other.close()
    assert leftovers()["kv"] == before


def test_an_index_that_does_not_answer_does_not_keep_the_rest_from_being_looked_at(context, document, monkeypatch):
    def down(*_):
        raise IndexUnavailable("The index does not answer.")

    monkeypatch.setattr(context.index, "holdings", down)
    folder = context.settings.files_dir / TENANT / "doc_gone"
    folder.mkdir()
    (folder / ("a" * 64)).write_text("left behind")
    assert Orphans().remove(context, later()) == Removed(files=1)
