"""Case 12. With another embedding model, whose vectors have another length, questions are answered throughout; the
library is indexed anew beside the old index, and what would mix the two says both numbers."""

from collections import Counter
from dataclasses import replace

import pytest
from served import served
from waiting import wait_until

import app.web.services
from retrieval.embedding import Embedder
from retrieval.errors import DimensionMismatch
from workers.ingest import ingest

FERRY = "# Ferry\n\nThe ferry to the island leaves at 7:45 every morning from the old pier.\n"
BAKER = "# Bakery\n\nThe bakery in Mill Lane sells rye bread on Tuesdays.\n"
QUESTION = "When does the ferry to the island leave?"


class LetterCounts:
    """An embedding of 26 numbers: how often each letter occurs."""

    dimension = 26

    def __init__(self, model):
        self.model = model

    def embed_texts(self, texts):
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text):
        letters = Counter(text.lower())
        counts = [float(letters[chr(ord("a") + n)]) for n in range(self.dimension)]
        length = sum(count * count for count in counts) ** 0.5 or 1.0
        return [count / length for count in counts]

    def reads(self, text):
        return True


@pytest.fixture
def outdated(engine, tmp_path, monkeypatch):
    """A folder whose library was indexed by letters."""
    with monkeypatch.context() as patch:
        patch.setattr(app.web.services, "Embedder", LetterCounts)
        with served(tmp_path / "state", engine, embedding_model="letters") as service:
            for name, text in (("ferry.md", FERRY), ("baker.md", BAKER)):
                assert service.add(name, text)["state"] == "indexed"
            assert [source["name"] for source in service.sources(QUESTION)][:1] == ["ferry.md"]
    return tmp_path / "state"


def test_questions_are_answered_while_and_after_the_library_is_indexed_anew(engine, outdated):
    with served(outdated, engine) as service:
        index, catalog = service.services.index, service.services.catalog

        def moved():
            assert service.sources(QUESTION)[0]["name"] == "ferry.md", "it answers at any moment"
            return index.count_older(service.tenant) == 0

        wait_until(moved, "the library is indexed anew")
        wait_until(
            lambda: index.count(service.tenant) == catalog.published_chunk_total(service.tenant),
            "nothing is there twice",
        )
        assert service.sources(QUESTION)[0]["name"] == "ferry.md"
        part = next(each for each in service.client.get("/readyz").json()["parts"] if each["name"] == "index")
        assert part["ok"]


def test_vectors_of_the_wrong_length_are_refused_naming_both_numbers(empty):
    document_id = empty.upload("ferry.md", FERRY)["document"]["id"]
    with pytest.raises(DimensionMismatch, match=r"26 numbers.* 384"):
        ingest(document_id, replace(empty.context, embedder=LetterCounts("letters")))
    assert empty.shown(document_id)["failure"] is None, "the document waits for a worker that is set up right"
    assert empty.left()["vectors"] == 0
    assert isinstance(empty.context.embedder, Embedder)
    assert ingest(document_id, empty.context)
    assert empty.sources(QUESTION)[0]["document_id"] == document_id
