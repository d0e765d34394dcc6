"""A catalog on each kind of database: SQLite always, Postgres where its server is installed."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from catalog_databases import Databases, PostgresDatabases, SqliteFiles
from catalog_rig import Clock, Library

from app.core.catalog import Catalog


def _postgres_programs() -> Path | None:
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "pg_ctl").exists()), None)


KINDS = ["sqlite", "postgres"] if _postgres_programs() else ["sqlite"]


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """A private server on a socket; the SQLAlchemy URL of its first database."""
    programs = _postgres_programs()
    assert programs
    user = "postgres" if os.geteuid() == 0 else None  # the server refuses to run as root
    folder = Path(tempfile.mkdtemp(prefix="preread-postgres-"))
    if user:
        shutil.chown(folder, user)

    def run(program: str, *arguments: str) -> None:
        subprocess.run(
            [programs / program, *arguments], check=True, user=user, cwd=folder, stdout=subprocess.DEVNULL, timeout=60
        )

    data = str(folder / "data")
    run("initdb", "-D", data, "-U", "preread", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
    options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off -c max_connections=200"
    try:
        run("pg_ctl", "-D", data, "-w", "-l", str(folder / "log"), "-o", options, "start")
        yield f"postgresql+psycopg://preread@/postgres?host={folder}"
    finally:
        run("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder)


@pytest.fixture(scope="session", params=KINDS)
def databases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Databases:
    """Where the databases of one kind come from."""
    if request.param == "sqlite":
        return SqliteFiles(tmp_path_factory.mktemp("databases"))
    return PostgresDatabases(request.getfixturevalue("postgres_server"))


@pytest.fixture
def empty_database_url(databases: Databases) -> str:
    return databases.empty()


@pytest.fixture
def database_url(databases: Databases) -> str:
    """A migrated database without rows."""
    return databases.clean()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def catalog(database_url: str, clock: Clock) -> Iterator[Catalog]:
    catalog = Catalog(database_url, clock)
    yield catalog
    catalog.close()


@pytest.fixture
def library(catalog: Catalog) -> Library:
    return Library(catalog)
