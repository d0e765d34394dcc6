"""A library that was indexed in an older layout, and what becomes of it when web starts."""

import shutil

import pytest
from qdrant_client import QdrantClient
from qdrant_client.models import Distance, PointStruct, VectorParams
from waiting import wait_until

from retrieval.index import Scope
from retrieval.nearness import Question
from retrieval.qdrant_index import QdrantIndex
from retrieval.search import Retriever
from workers.claim import claimed
from workers.ingest import ingest
from workers.reindex import Reindexing

LEAVE = "Employees get 25 days of holiday a year."
BRIDGE = "The bridge was built in 1932 by 300 people."


@pytest.fixture
def indexed(context, add):
    """Two documents that answer, in today's index."""
    documents = [add("leave.txt", LEAVE), add("bridge.txt", BRIDGE)]
    for document in documents:
        ingest(document.id, context)
    return documents


@pytest.fixture
def outdated(context, indexed, embedder):
    """The same, but in a folder of the layout before; yields the index that today's web opens it with."""
    context.index.close()
    settings = context.settings
    shutil.rmtree(settings.qdrant_dir)
    client = QdrantClient(path=str(settings.qdrant_dir))
    client.create_collection("chunks", VectorParams(size=embedder.dimension, distance=Distance.COSINE))
    for number, document in enumerate(indexed):
        version = context.catalog.published_documents(settings.tenant)[number].current_version_id
        for chunk in context.catalog.chunks_of(version):
            payload = {"tenant": chunk.tenant, "document_id": document.id, "chunk_id": chunk.id, "version_id": version}
            (vector,) = embedder.embed_texts([chunk.text])
            client.upsert("chunks", [PointStruct(id=number, vector=vector, payload=payload)])
    client.close()
    index = QdrantIndex.open_local(settings.qdrant_dir, embedder.dimension, settings.embedding_model)
    yield index
    index.close()


def found(context, index, question="How many people built the bridge in 1932?") -> list[str]:
    retriever = Retriever(context.embedder, index, context.catalog)
    return [passage.text for passage in retriever.retrieve(context.settings.tenant, question, 1, 0.35)]


def reindexing(context, index) -> Reindexing:
    return Reindexing(context.catalog, index, context.embedder, context.settings)


def test_the_old_index_answers_until_the_new_one_does(context, outdated) -> None:
    assert found(context, outdated) == [BRIDGE]
    assert outdated.count_older("default") == 2
    assert reindexing(context, outdated).once()
    assert outdated.count_older("default") == 0
    assert outdated.count("default") == 2
    assert found(context, outdated) == [BRIDGE]


def test_it_goes_on_where_it_was_killed(context, outdated, indexed, embedder, monkeypatch) -> None:
    class Killed(BaseException):
        pass

    real, texts = embedder.embed_texts, []

    def dying(batch):
        texts.extend(batch)
        if BRIDGE in batch:
            raise Killed
        return real(batch)

    monkeypatch.setattr(embedder, "embed_texts", dying)
    with pytest.raises(Killed):
        reindexing(context, outdated).once()
    assert outdated.count_older("default") == 1
    assert [found(context, outdated), found(context, outdated, "How many days of holiday?")] == [[BRIDGE], [LEAVE]]
    monkeypatch.setattr(embedder, "embed_texts", lambda batch: texts.extend(batch) or real(batch))
    assert reindexing(context, outdated).once()
    assert texts == [LEAVE, BRIDGE, BRIDGE]
    assert outdated.count("default") == 2


def test_another_embedding_models_vectors_are_made_anew(context, indexed, embedder) -> None:
    context.index.close()
    index = QdrantIndex.open_local(context.settings.qdrant_dir, embedder.dimension, "the model as it is called now")
    assert found(context, index) == [BRIDGE]
    assert reindexing(context, index).once()
    assert (index.count("default"), index.count_older("default")) == (2, 0)
    assert found(context, index) == [BRIDGE]
    index.close()


def test_a_lost_index_is_made_anew(context, indexed) -> None:
    for document in indexed:
        context.index.delete_document("default", document.id)
    assert found(context, context.index) == []
    assert reindexing(context, context.index).once()
    assert found(context, context.index) == [BRIDGE]


def test_a_document_that_another_worker_holds_waits_for_it(context, outdated, indexed) -> None:
    with claimed(context.catalog, indexed[0].id, 30):
        assert not reindexing(context, outdated).once()
        assert outdated.count_older("default") == 1
    assert reindexing(context, outdated).once()


def test_a_document_deleted_meanwhile_is_not_indexed_again(context, outdated, indexed, embedder, monkeypatch) -> None:
    real = embedder.embed_texts

    def deleting(batch):
        if BRIDGE in batch:
            context.catalog.begin_delete("default", indexed[1].id)
        return real(batch)

    monkeypatch.setattr(embedder, "embed_texts", deleting)
    reindexing(context, outdated).once()
    assert outdated.count("default", indexed[1].id) == 0
    assert outdated.count("default") == 1


def test_questions_are_answered_throughout(context, outdated) -> None:
    work = reindexing(context, outdated)
    work.start()
    answers = []
    wait_until(lambda: answers.append(found(context, outdated)) or not outdated.count_older("default"), "re-indexed")
    work.stop()
    assert set(map(tuple, [*answers, found(context, outdated)])) == {(BRIDGE,)}


def test_with_nothing_to_do_nothing_is_embedded(context, indexed, embedder, monkeypatch) -> None:
    monkeypatch.setattr(embedder, "embed_texts", lambda batch: pytest.fail("embedded"))
    work = reindexing(context, context.index)
    work.start()
    work.stop()
    assert reindexing(context, context.index).once()


def test_what_belongs_to_no_document_goes_with_the_old_index(context, outdated, indexed) -> None:
    context.catalog.begin_delete("default", indexed[0].id)
    assert reindexing(context, outdated).once()
    assert (outdated.count("default"), outdated.count_older("default")) == (1, 0)


def labelled(context, index, document, *collections: str) -> int:
    """In how many chunks of the index the document bears all of these collections."""
    anything = Question("", context.embedder.embed_query("anything"))
    found = [index.search("default", anything, 9, Scope((document.id,), (each,))) for each in collections]
    return min(len(each) for each in found)


def test_chunks_keep_their_labels(context, outdated, indexed) -> None:
    context.catalog.set_labels("default", indexed[0].id, ["staff", "press"], [])
    assert reindexing(context, outdated).once()
    assert labelled(context, outdated, indexed[0], "staff", "press") == 1
    assert labelled(context, outdated, indexed[1], "staff") == 0


def test_labels_that_change_while_a_document_is_moved_hold(context, outdated, indexed, monkeypatch) -> None:
    real = outdated.upsert

    def changed_meanwhile(chunks):
        if chunks[0].document_id == indexed[0].id:
            context.catalog.set_labels("default", indexed[0].id, ["press"], [])
            outdated.label("default", indexed[0].id, ["press"], [])
        real(chunks)

    context.catalog.set_labels("default", indexed[0].id, ["staff"], [])
    monkeypatch.setattr(outdated, "upsert", changed_meanwhile)
    assert reindexing(context, outdated).once()
    assert labelled(context, outdated, indexed[0], "press") == 1
    assert labelled(context, outdated, indexed[0], "staff") == 0


def test_what_is_left_is_told_with_both_dimensions(context, outdated, indexed, embedder, monkeypatch) -> None:
    work = reindexing(context, outdated)
    assert (work.left(), work.progress()) == (0, ""), "it has not begun"
    told, real = [], embedder.embed_texts
    monkeypatch.setattr(embedder, "embed_texts", lambda batch: told.append(work.left()) or real(batch))
    monkeypatch.setattr(outdated, "older_dimensions", lambda: {768})
    monkeypatch.setattr(outdated, "forget_older", lambda *_: told.append(work.progress()))
    work.start()
    wait_until(lambda: len(told) >= 4, "both are moved")
    work.stop()
    assert [each for each in told if isinstance(each, int)] == [2, 2]
    assert (
        told[1] == "2 are still to be indexed anew, from vectors of 768 numbers to vectors of 384; all answer meanwhile"
    )
    assert work.left() == 0, "it has ended"


def test_of_a_lost_index_it_is_told_too_what_is_left(context, indexed, embedder, monkeypatch) -> None:
    for document in indexed:
        context.index.delete_document("default", document.id)
    work = reindexing(context, context.index)
    told, real = [], embedder.embed_texts
    monkeypatch.setattr(embedder, "embed_texts", lambda batch: told.append(work.left()) or real(batch))
    work.start()
    wait_until(lambda: work.left() == 0 and len(told) == 2, "both are made anew")
    work.stop()
    assert told == [2, 1]
