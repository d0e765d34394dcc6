"""Collections and tags: given, changed, counted, filtered by, and told to the index."""

import unicodedata

import pytest
from catalog_rig import TENANT, Clock, Library, ids_hash

from app.core.catalog import (
    BadLabel,
    Catalog,
    Document,
    DocumentFilter,
    DocumentNotFound,
    LabelCount,
    LabelKind,
    TooManyLabels,
)


def add(catalog: Catalog, name: str, collections: list[str], tags: list[str], content: str = "") -> Document:
    return catalog.add_document(
        TENANT, name, ids_hash(content or name), "text/plain", 1, collections=collections, tags=tags
    )[0]


def found(catalog: Catalog, **chosen: str) -> list[str]:
    return [document.name for document in catalog.list_documents(TENANT, chosen=DocumentFilter(**chosen)).items]


def test_a_document_has_the_labels_it_was_given_each_once_and_sorted(catalog: Catalog) -> None:
    document = add(catalog, "a.md", ["Travel", " travel ", "Handbook"], ["2026", "2026"])
    assert (document.collections, document.tags) == (("Handbook", "Travel", "travel"), ("2026",))
    assert catalog.get_document(TENANT, document.id) == document
    assert catalog.labels_of(document.id) == (document.collections, document.tags)
    assert catalog.labels_of("doc_none") == ((), ())


def test_accents_are_one_label_however_they_are_encoded(catalog: Catalog) -> None:
    document = add(catalog, "a.md", [unicodedata.normalize("NFD", "Café"), "Café"], [])
    assert document.collections == (unicodedata.normalize("NFC", "Café"),)


@pytest.mark.parametrize("label", ["", "  ", "x" * 65, "a\nb", "a\0b", "half \ud83d", "a\u2028b"])
def test_what_cannot_be_a_label_is_refused_and_nothing_is_added(catalog: Catalog, label: str) -> None:
    with pytest.raises(BadLabel) as refusal:
        add(catalog, "a.md", [label], [])
    assert refusal.value.hint
    assert catalog.list_documents(TENANT).total == 0
    document = add(catalog, "a.md", ["kept"], [])
    with pytest.raises(BadLabel):
        catalog.set_labels(TENANT, document.id, ["other"], [label])
    assert catalog.labels_of(document.id) == (("kept",), ())


def test_known_bytes_and_a_new_version_come_to_the_labels_that_are_there(catalog: Catalog, library: Library) -> None:
    document = add(catalog, "a.md", ["one"], ["x"])
    assert add(catalog, "b.md", ["two"], ["x"], content="a.md").id == document.id
    assert add(catalog, "a.md", ["three"], [], content="v2").id == document.id
    assert catalog.labels_of(document.id) == (("one", "three", "two"), ("x",))


def test_a_document_has_at_most_fifty_of_each(catalog: Catalog) -> None:
    document = add(catalog, "a.md", [f"c{n}" for n in range(50)], [f"t{n}" for n in range(50)])
    for collections, tags in ((["one more"], []), ([], ["one more"])):
        with pytest.raises(TooManyLabels):
            add(catalog, "a.md", collections, tags)
    with pytest.raises(TooManyLabels):
        catalog.set_labels(TENANT, document.id, [f"d{n}" for n in range(51)], None)
    assert len(catalog.labels_of(document.id)[0]) == 50


def test_set_labels_replaces_those_that_are_named_and_leaves_the_other_kind(catalog: Catalog) -> None:
    document = add(catalog, "a.md", ["one", "two"], ["x"])
    catalog.set_labels(TENANT, document.id, ["three"], None)
    assert catalog.labels_of(document.id) == (("three",), ("x",))
    catalog.set_labels(TENANT, document.id, None, [])
    assert catalog.labels_of(document.id) == (("three",), ())


def test_another_tenants_document_and_a_deleted_one_have_no_labels_to_set(catalog: Catalog) -> None:
    document = add(catalog, "a.md", ["one"], ["x"])
    with pytest.raises(DocumentNotFound):
        catalog.set_labels("other", document.id, [], [])
    catalog.begin_delete(TENANT, document.id)
    with pytest.raises(DocumentNotFound):
        catalog.set_labels(TENANT, document.id, ["one"], [])
    assert catalog.labels_of(document.id) == ((), ()), "a deletion takes them at once"
    assert catalog.label_counts(TENANT, LabelKind.COLLECTION) == []


def test_labels_are_counted_by_documents_of_the_tenant(catalog: Catalog, library: Library) -> None:
    add(catalog, "a.md", ["one", "two"], ["x"])
    add(catalog, "b.md", ["two"], [])
    catalog.add_document("other", "c.md", ids_hash("c"), "text/plain", 1, collections=["theirs"])
    assert catalog.label_counts(TENANT, LabelKind.COLLECTION) == [LabelCount("one", 1), LabelCount("two", 2)]
    assert catalog.label_counts(TENANT, LabelKind.TAG) == [LabelCount("x", 1)]


def test_lists_are_filtered_by_label_state_and_name_together(catalog: Catalog, library: Library, clock: Clock) -> None:
    for name, collections, tags in (
        ("a.md", ["one", "two"], ["x"]), ("b.md", ["two"], ["x", "y"]), ("c.md", ["two"], []), ("d.md", [], ["x"]),
    ):  # fmt: skip
        document = add(catalog, name, collections, tags)
        clock.advance(1)
    library.publish(document, "text")
    catalog.add_document("other", "e.md", ids_hash("e"), "text/plain", 1, collections=["two"], tags=["x"])
    assert found(catalog, collection="two") == ["c.md", "b.md", "a.md"]
    assert found(catalog, collection="two", tag="x") == ["b.md", "a.md"]
    assert found(catalog, tag="x", query="D.") == ["d.md"]
    assert found(catalog, tag="x", state="indexed") == ["d.md"]
    assert found(catalog, state="received", query="MD") == ["c.md", "b.md", "a.md"]
    assert found(catalog, collection="none") == found(catalog, tag="two") == []
    page = catalog.list_documents(TENANT, 1, 1, DocumentFilter(collection="two", tag="x"))
    assert ([document.name for document in page.items], page.total) == (["a.md"], 2)


def test_only_chunks_of_documents_that_are_in_the_scope_now_are_given_out(catalog: Catalog, library: Library) -> None:
    first, second = add(catalog, "a.md", ["one"], ["x"]), add(catalog, "b.md", ["two"], ["x", "y"])
    chunks = [*library.publish(first, "first"), *library.publish(second, "second")]
    ids = [chunk.id for chunk in chunks]

    def within(**scope: list[str]) -> list[str]:
        return [chunk.document_id for chunk in catalog.chunks_by_id(TENANT, ids, **scope)]

    assert within() == [first.id, second.id]
    assert within(collections=["one", "none"]) == [first.id]
    assert within(tags=["x"]) == [first.id, second.id]
    assert within(collections=["one", "two"], tags=["y"]) == [second.id]
    assert within(document_ids=[first.id], tags=["y"]) == []
    assert within(document_ids=[first.id, second.id], collections=["two"]) == [second.id]
    assert within(collections=[]) == within(tags=[]) == within(document_ids=[]) == []
    catalog.set_labels(TENANT, first.id, ["two"], None)
    assert within(collections=["one"]) == []


def test_changed_labels_are_pending_until_the_index_has_been_told_of_the_latest(catalog: Catalog) -> None:
    document = add(catalog, "a.md", [], [])
    assert catalog.pending_labels() == []
    catalog.set_labels(TENANT, document.id, ["one"], [])
    (first,) = catalog.pending_labels()
    assert (first.document_id, first.tenant, first.collections, first.tags) == (document.id, TENANT, ("one",), ())
    assert catalog.labels_indexed(document.id, first.seen)
    assert catalog.pending_labels() == []
    catalog.set_labels(TENANT, document.id, ["one"], [])
    assert catalog.pending_labels() == [], "nothing has changed"


def test_whoever_told_the_index_something_old_has_it_told_again(catalog: Catalog) -> None:
    document = add(catalog, "a.md", ["one"], [])
    (old,) = catalog.pending_labels()
    catalog.set_labels(TENANT, document.id, ["two"], [])
    assert not catalog.labels_indexed(document.id, old.seen)
    (new,) = catalog.pending_labels()
    assert catalog.labels_indexed(document.id, new.seen)
    assert not catalog.labels_indexed(document.id, old.seen), "it came after the newer ones and may have hidden them"
    assert [pending.collections for pending in catalog.pending_labels()] == [("two",)]


def test_labels_of_what_is_being_deleted_or_gone_are_not_pending(catalog: Catalog) -> None:
    document = add(catalog, "a.md", ["one"], [])
    catalog.begin_delete(TENANT, document.id)
    assert catalog.pending_labels() == []
    catalog.finish_delete(document.id)
    assert catalog.labels_indexed(document.id, 1)
