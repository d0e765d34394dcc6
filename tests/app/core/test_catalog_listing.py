"""Pages by offset and by cursor, searches however text is written, and databases from before."""

import pytest
from alembic import command
from catalog_databases import Databases
from catalog_rig import TENANT, Clock, Library
from sqlalchemy import create_engine, text

from app.core.catalog import BadCursor, Catalog, DocumentFilter
from app.core.catalog.schema import _config


def names(catalog: Catalog, query: str) -> list[str]:
    return [document.name for document in catalog.list_documents(TENANT, chosen=DocumentFilter(query)).items]


def test_cursors_lead_through_the_whole_list_also_where_times_are_equal(
    catalog: Catalog, library: Library, clock: Clock
) -> None:
    added = []
    for n in range(7):
        added.append(library.add(f"{n}.md"))
        clock.advance(n % 2)
    seen, after = [], None
    while True:
        page = catalog.list_documents(TENANT, 2, after=after)
        seen += page.items
        assert page.total == 7
        if (after := page.following) is None:
            break
    assert sorted(seen, key=lambda document: document.name) == added
    assert seen == list(catalog.list_documents(TENANT, 10).items)


def test_a_cursor_stays_true_while_documents_come_and_go(catalog: Catalog, library: Library, clock: Clock) -> None:
    added = []
    for n in range(4):
        added.append(library.add(f"{n}.md"))
        clock.advance(1)
    page = catalog.list_documents(TENANT, 2)
    library.add("new.md")
    catalog.begin_delete(TENANT, added[2].id)
    catalog.finish_delete(added[2].id)
    assert [document.name for document in catalog.list_documents(TENANT, 2, after=page.following).items] == [
        "1.md",
        "0.md",
    ]


def test_an_offset_counts_from_the_cursor(catalog: Catalog, library: Library, clock: Clock) -> None:
    for n in range(5):
        library.add(f"{n}.md")
        clock.advance(1)
    first = catalog.list_documents(TENANT, 1)
    assert catalog.list_documents(TENANT, 1, 2, after=first.following).items[0].name == "1.md"


@pytest.mark.parametrize("cursor", ["nonsense", "zz.doc_1", "f" * 40 + ".doc_1", "."])
def test_a_cursor_that_no_page_has_named_is_refused(catalog: Catalog, cursor: str) -> None:
    with pytest.raises(BadCursor):
        catalog.list_documents(TENANT, after=cursor)


@pytest.mark.parametrize("query", ["Straße", "STRASSE", "cafe\u0301", "CAFÉ", "テスト", "ﾃｽﾄ", "100%_", "\\"])
def test_a_search_finds_names_however_they_are_written(catalog: Catalog, library: Library, query: str) -> None:
    wanted = {
        "strasse": "Hauptstraße.md", "café": "Café.md", "cafe\u0301": "Café.md", "straße": "Hauptstraße.md",
        "テスト": "テスト 資料①.pdf", "ﾃｽﾄ": "テスト 資料①.pdf", "100%_": "100%_sure.md", "\\": "back\\slash.md",
    }[query.lower()]  # fmt: skip
    for name in ("Hauptstraße.md", "Café.md", "テスト 資料①.pdf", "100%_sure.md", "back\\slash.md", "1000 sure.md"):
        library.add(name)
    assert names(catalog, query) == [wanted]


def test_the_title_is_searched_as_soon_as_it_is_known(catalog: Catalog, library: Library) -> None:
    document = library.add("a.md")
    catalog.claim(document.id, "worker", 60)
    catalog.save_parsed(
        document.pending_version_id or "", owner="worker", title="Travel", media_type="text/plain", pages=None
    )
    assert names(catalog, "tRAV") == names(catalog, "a.m") == ["a.md"]


def test_documents_from_before_are_found_by_name_and_have_no_labels(databases: Databases) -> None:
    url = databases.empty()
    engine = create_engine(url)
    with engine.begin() as connection:
        config = _config()
        config.attributes["connection"] = connection
        command.upgrade(config, "0005")
        connection.execute(
            text(
                "INSERT INTO documents (id, tenant, name, title, state, created_at, updated_at, generation)"
                " VALUES ('doc_1', 'default', 'Über.md', 'Old Title', 'received', '2026-01-01', '2026-01-01', 1)"
            )
        )
    engine.dispose()
    catalog = Catalog(url)
    catalog.migrate()
    assert names(catalog, "über") == names(catalog, "OLD T") == ["Über.md"]
    assert catalog.get_document(TENANT, "doc_1").collections == ()
    assert catalog.pending_labels() == []
    catalog.close()
