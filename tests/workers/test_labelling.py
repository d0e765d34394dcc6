"""Labels in the index agree with the catalog in the end, whatever does not answer in between."""

from datetime import UTC, datetime

import pytest

from retrieval.errors import IndexUnavailable
from workers.ingest import ingest
from workers.labelling import tell_index
from workers.upkeep import reconcile

TENANT = "default"


def now():
    return datetime.now(UTC)


def indexed(context, document):
    """The labels that its chunks bear in the index."""
    versions = context.index.holdings().versions
    return {(each.collections, each.tags) for each in versions if each.document_id == document.id}


@pytest.fixture
def document(context, add):
    document = add("a.md", "The first rule is short.")
    ingest(document.id, context)
    return document


def test_the_index_is_told_of_labels_that_have_changed(context, document):
    assert indexed(context, document) == {((), ())}
    context.catalog.set_labels(TENANT, document.id, ["sea", "port"], ["blue"])
    assert tell_index(context.catalog, context.index, document.id)
    assert indexed(context, document) == {(("port", "sea"), ("blue",))}
    assert context.catalog.pending_labels() == []


def test_repair_tells_what_an_index_that_was_away_has_missed(context, document, monkeypatch):
    context.catalog.set_labels(TENANT, document.id, ["sea"], None)

    def away(*_):
        raise IndexUnavailable("The index does not answer.")

    with monkeypatch.context() as patch:
        patch.setattr(context.index, "label", away)
        assert not tell_index(context.catalog, context.index, document.id)
        reconcile(context, set(), now())
    assert indexed(context, document) == {((), ())}
    reconcile(context, set(), now())
    assert indexed(context, document) == {(("sea",), ())}
    assert context.catalog.pending_labels() == []


def test_labels_that_change_while_the_index_is_told_are_told_too(context, document, monkeypatch):
    context.catalog.set_labels(TENANT, document.id, ["old"], None)
    label = context.index.label

    def slow(tenant, document_id, collections, tags):
        if collections == ("old",):
            context.catalog.set_labels(TENANT, document.id, ["new"], None)
        label(tenant, document_id, collections, tags)

    monkeypatch.setattr(context.index, "label", slow)
    tell_index(context.catalog, context.index)
    tell_index(context.catalog, context.index)
    assert indexed(context, document) == {(("new",), ())}
    assert context.catalog.pending_labels() == []


def test_a_document_that_is_labelled_before_it_is_read_in_is_found_by_its_labels(context, add):
    document = add("b.md", "The second rule is short.")
    context.catalog.set_labels(TENANT, document.id, ["sea"], None)
    reconcile(context, set(), now())
    assert indexed(context, document) == set()
    ingest(document.id, context)
    assert indexed(context, document) == {(("sea",), ())}
