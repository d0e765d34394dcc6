"""The numbers that people see about documents."""

from catalog_rig import TENANT, Clock, Library, wanted

from app.core.catalog import Catalog, ChunkCounts, CountedReadings, DocumentFilter, DocumentState


def test_a_row_shows_the_numbers_of_the_version_that_answers(catalog: Catalog, library: Library, clock: Clock) -> None:
    document = library.add("travel.md", "v1")
    library.publish(document, "one", "two", "two", "three")
    library.preread(document, wanted("one"), wanted("two"), size_bytes=100)
    catalog.record_lookups(TENANT, {"disk": (3, 9)}, {"evicted": (1, 3)}, {document.id: (3, 1)}, clock.now)
    library.chunked(library.add("travel.md", "a longer v2"), "pending")

    row = catalog.document_row(TENANT, document.id)
    assert row.document == catalog.get_document(TENANT, document.id)
    assert (row.media_type, row.size_bytes, row.pages) == ("text/markdown", 2, None)
    assert (row.chunks, row.tokens, row.chunks_ready, row.kv_bytes) == (4, 14, 3, 200)
    assert (row.hits, row.misses) == (3, 1)


def test_a_row_without_a_published_version_shows_the_pending_one(catalog: Catalog, library: Library) -> None:
    document = library.add("travel.md", "text")
    row = catalog.document_row(TENANT, document.id)
    assert (row.media_type, row.size_bytes, row.chunks, row.tokens, row.kv_bytes) == ("text/markdown", 4, 0, 0, 0)
    library.chunked(document, "one")
    assert catalog.document_row(TENANT, document.id).chunks == 1


def test_only_opening_readings_of_the_model_in_use_make_a_chunk_ready(catalog: Catalog, library: Library) -> None:
    document = library.add("travel.md")
    library.publish(document, "one", "two", "three")
    library.preread(
        document,
        wanted("one"),
        wanted("one", reading="conditioned"),
        wanted("two", model="older"),
        wanted("three", preamble="older"),
        wanted("three", reading="conditioned"),
        size_bytes=10,
    )
    in_use = CountedReadings(("opening",), "model", "preamble")
    row = catalog.document_row(TENANT, document.id, counted=in_use)
    assert (row.chunks_ready, row.kv_bytes) == (1, 30)
    assert catalog.document_row(TENANT, document.id).chunks_ready == 3
    older = CountedReadings(model_fingerprint="older")
    assert catalog.document_table(TENANT, counted=older).rows[0].chunks_ready == 1
    assert catalog.chunk_counts(TENANT, counted=in_use) == ChunkCounts(chunks=3, ready=1)


def test_a_chunk_is_ready_when_every_reading_that_counts_is(catalog: Catalog, library: Library) -> None:
    document = library.add("travel.md")
    library.publish(document, "both", "opening", "conditioned", "neither")
    library.preread(
        document,
        wanted("both"),
        wanted("both", reading="conditioned"),
        wanted("opening"),
        wanted("conditioned", reading="conditioned"),
    )
    for readings, ready in ((("opening",), 2), (("conditioned",), 2), (("opening", "conditioned"), 1)):
        counted = CountedReadings(readings)
        assert catalog.chunk_counts(TENANT, counted=counted) == ChunkCounts(chunks=4, ready=ready)
        assert catalog.document_row(TENANT, document.id, counted=counted).chunks_ready == ready


def test_a_table_pages_and_searches_like_the_list(catalog: Catalog, library: Library, clock: Clock) -> None:
    for name in ("a travel.md", "b.md", "c travel.md"):
        library.publish(library.add(name), f"text of {name}")
        clock.advance(1)
    library.add("d.md", tenant="other")
    table = catalog.document_table(TENANT, limit=1, offset=1, chosen=DocumentFilter("TRAVEL"))
    assert [row.document.name for row in table.rows] == ["a travel.md"]
    assert table.total == 2
    assert catalog.document_table("nobody").rows == ()
    assert tuple(row.document for row in catalog.document_table(TENANT).rows) == catalog.list_documents(TENANT).items


def test_counts_leave_out_what_does_not_answer(catalog: Catalog, library: Library) -> None:
    library.publish(library.add("a.md"), "one", "two")
    deleting = library.add("b.md")
    library.publish(deleting, "three")
    catalog.begin_delete(TENANT, deleting.id)
    library.chunked(library.add("c.md"), "four")
    assert catalog.chunk_counts(TENANT) == ChunkCounts(chunks=2, ready=0)
    assert catalog.chunk_counts("nobody") == ChunkCounts(0, 0)
    assert catalog.state_counts(TENANT) == {
        DocumentState.INDEXED: 1,
        DocumentState.DELETING: 1,
        DocumentState.RECEIVED: 1,
    }
