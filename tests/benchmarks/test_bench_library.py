"""`preread bench library`: a small one, and that nothing it asks of a database looks at every document."""

import json
import re

import pytest
from sqlalchemy import event
from typer.testing import CliRunner

from app.core.catalog import Catalog, DocumentFilter, DocumentState, LabelKind
from benchmarks.library.command import library
from benchmarks.library.filling import COMMON_TAG, LARGE_COLLECTION, RARE_TAG, TENANT, fill
from benchmarks.main import bench

SEARCHED_WHOLE = re.compile(r"SCAN (documents|versions|chunks|readings|document_labels)\b")


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('library') / 'preread.db'}"
    catalog = Catalog(url)
    catalog.migrate()
    fill(url, 3000, 2)
    yield catalog
    catalog.close()


def test_the_command_prints_milliseconds_for_every_kind_of_page() -> None:
    arguments = ["library", "--documents", "120", "--chunks", "1", "--rounds", "2", "--json"]
    result = json.loads(CliRunner().invoke(bench, arguments).stdout)
    assert (result["documents"], result["chunks_each"], result["database"], result["rounds"]) == (120, 1, "sqlite", 2)
    assert {"model", "machine", "command"} <= result.keys()
    assert {"first page", "deep page by offset", "search, one found", "large collection", "tags"} <= set(
        result["listed"]
    )
    assert all(0 < taken["ms_p50"] <= taken["ms_max"] for taken in result["listed"].values())
    assert library.__doc__


def test_what_is_filled_in_is_as_it_says(filled: Catalog) -> None:
    def total(**chosen: str) -> int:
        return filled.list_documents(TENANT, chosen=DocumentFilter(**chosen)).total

    assert total() == 3000
    assert total(collection=LARGE_COLLECTION) == 1000
    assert total(tag=COMMON_TAG) == 75
    assert total(tag=RARE_TAG) == 3
    assert total(state=DocumentState.FAILED) == 60
    assert total(query="report no. 1500,") == 1
    row = filled.document_table(TENANT, 1).rows[0]
    assert (row.chunks, row.tokens) == (2, 800)


@pytest.mark.parametrize(
    "chosen",
    [
        DocumentFilter(),
        DocumentFilter(state=DocumentState.FAILED),
        DocumentFilter(collection=LARGE_COLLECTION),
        DocumentFilter(collection=LARGE_COLLECTION, tag=COMMON_TAG),
        DocumentFilter(collection=LARGE_COLLECTION, state=DocumentState.PREREAD),
    ],
)
@pytest.mark.parametrize("way", ["first", "deep", "after"])
def test_pages_are_read_in_indexes_and_in_their_order(filled: Catalog, chosen: DocumentFilter, way: str) -> None:
    after = filled.list_documents(TENANT, 20, chosen=chosen).following if way == "after" else None
    statements = []

    def note(_connection, cursor, statement, parameters, *_):
        if statement.startswith("SELECT"):
            statements.append((statement, parameters))

    event.listen(filled._reading, "before_cursor_execute", note)
    filled.document_table(TENANT, 20, 30 if way == "deep" else 0, chosen, after)
    filled.label_counts(TENANT, LabelKind.TAG)
    event.remove(filled._reading, "before_cursor_execute", note)
    with filled._reading.connect() as connection:
        for statement, parameters in statements:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            steps = [row[3] for row in plan]
            assert not [step for step in steps if SEARCHED_WHOLE.match(step)], (statement, steps)
            if "OFFSET" in statement or "LIMIT" in statement:
                assert not [step for step in steps if "TEMP B-TREE" in step], (statement, steps)
