"""The same text in two documents: one of them answers, and which one depends on where the question looks."""

import pytest
from test_search import Library, Record

from retrieval.index import Scope
from retrieval.qdrant_index import QdrantIndex

TEXT = "The bridge was built in 1932, by hand."


@pytest.fixture
def library(local_index: QdrantIndex) -> Library:
    library = Library(local_index)
    for number in range(20):
        name = f"copy_{number}"
        record = Record(name, document_id=f"doc_{number}", text=TEXT, tags=("old",) if number else ("new",))
        library.add(record, away=number / 100)
    library.add(Record("other", document_id="doc_other", text="It is painted every year.", tags=("old",)), away=0.5)
    return library


def test_a_text_under_many_names_takes_one_place(library: Library) -> None:
    assert library.ids(top_k=3, question="bridge") == ["copy_0", "other"]


def test_within_labels_the_copy_that_bears_them_stands_for_all(library: Library) -> None:
    assert library.ids(top_k=3, question="bridge", scope=Scope(tags=("old",))) == ["copy_1", "other"]
    assert library.ids(top_k=3, question="bridge", scope=Scope(tags=("new",))) == ["copy_0"]


def test_within_documents_the_copy_that_is_theirs_stands_for_all(library: Library) -> None:
    assert library.ids(top_k=3, question="bridge", scope=Scope(document_ids=("doc_7", "doc_9"))) == ["copy_7"]


def test_with_diversity_copies_take_one_place_too(library: Library) -> None:
    library.retriever._diversity = 0.5
    assert library.ids(top_k=3, question="bridge", scope=Scope(tags=("old",))) == ["copy_1", "other"]
