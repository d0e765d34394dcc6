"""The migrations make the tables that the models describe."""

import multiprocessing
import re
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from catalog_databases import Databases
from catalog_rig import Library
from sqlalchemy import Engine, create_engine, text

from app.core.catalog import Catalog, DatabaseUnavailable, SchemaError
from app.core.catalog.models import Base


def test_migration_from_nothing_makes_exactly_the_models_tables(catalog: Catalog, database_url: str) -> None:
    engine = create_engine(database_url)
    with engine.connect() as connection:
        options = {"compare_type": True, "compare_server_default": True}
        differences = compare_metadata(MigrationContext.configure(connection, opts=options), Base.metadata)
    engine.dispose()
    assert differences == []


def test_migration_makes_the_models_indexes_and_constraints_to_the_letter(databases: Databases) -> None:
    migrated = create_engine(databases.copy(databases.migrated))
    found = _definitions(migrated)
    with migrated.begin() as connection:
        Base.metadata.drop_all(connection)
        Base.metadata.create_all(connection)
    assert found == _definitions(migrated)
    assert any("where" in definition.lower() for definition in found.values())
    migrated.dispose()


def test_a_second_migration_changes_nothing(catalog: Catalog, library: Library) -> None:
    document = library.add("travel.md")
    catalog.migrate()
    assert catalog.is_current()
    assert catalog.get_document("default", document.id) == document


def test_an_empty_database_is_not_current(empty_database_url: str) -> None:
    catalog = Catalog(empty_database_url)
    assert not catalog.is_current()
    catalog.close()


def test_several_processes_may_migrate_empty_databases_at_once(databases: Databases) -> None:
    urls = [databases.empty() for _ in range(5)]
    with ProcessPoolExecutor(3, mp_context=multiprocessing.get_context("spawn")) as processes:
        assert list(processes.map(_migrate_each, [urls] * 3)) == [[True] * 5] * 3


def test_a_database_from_an_unknown_revision_is_refused(databases: Databases) -> None:
    url = databases.copy(databases.migrated)
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    engine.dispose()
    catalog = Catalog(url)
    with pytest.raises(SchemaError, match="9999"):
        catalog.migrate()
    assert not catalog.is_current()
    catalog.close()


def test_the_database_folder_is_made_when_it_is_missing(tmp_path: Path) -> None:
    catalog = Catalog(f"sqlite:///{tmp_path}/not/yet/there/preread.db")
    catalog.migrate()
    catalog.close()
    assert (tmp_path / "not/yet/there/preread.db").exists()


@pytest.mark.parametrize("url", ["postgresql+psycopg://preread@127.0.0.1:1/preread", "sqlite:////dev/null/preread.db"])
def test_a_database_that_does_not_answer_is_named_as_such(url: str) -> None:
    with pytest.raises(DatabaseUnavailable) as refusal:
        Catalog(url).list_documents("default")
    assert refusal.value.code == "database_unavailable"
    assert refusal.value.hint


def _migrate_each(urls: list[str]) -> list[bool]:
    current = []
    for url in urls:
        catalog = Catalog(url)
        catalog.migrate()
        current.append(catalog.is_current())
        catalog.close()
    return current


def _definitions(engine: Engine) -> dict[str, str]:
    """Index and constraint definitions by name, as the database itself spells them."""
    if engine.dialect.name == "sqlite":
        query = "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name <> 'alembic_version'"
    else:
        query = (
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename <> 'alembic_version'"
            " UNION ALL SELECT conname, pg_get_constraintdef(oid) FROM pg_constraint WHERE contype = 'f'"
        )
    with engine.connect() as connection:
        return {name: re.sub(r"\s+", " ", sql) for name, sql in connection.execute(text(query))}
