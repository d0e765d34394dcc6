"""A catalog on each kind of database: SQLite always, Postgres where its server is installed."""

import os
import shutil
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pytest
from catalog_rig import Clock, Library
from sqlalchemy import create_engine, make_url, text

from app.core.catalog import Catalog
from app.core.ids import new_id


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
def databases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> "Databases":
    """Where the databases of one kind come from."""
    if request.param == "sqlite":
        return SqliteFiles(tmp_path_factory.mktemp("databases"))
    return PostgresDatabases(request.getfixturevalue("postgres_server"))


@pytest.fixture
def empty_database_url(databases: "Databases") -> str:
    return databases.empty()


@pytest.fixture
def database_url(databases: "Databases") -> str:
    """A migrated database."""
    return databases.copy(databases.migrated)


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


class Databases(ABC):
    """Databases of one kind; migrating once and copying is what keeps the tests quick."""

    @abstractmethod
    def empty(self) -> str:
        """The URL of a new database."""

    @abstractmethod
    def copy(self, url: str) -> str:
        """The URL of a new database with the same contents."""

    @cached_property
    def migrated(self) -> str:
        url = self.empty()
        catalog = Catalog(url)
        catalog.migrate()
        catalog.close()
        return url


class SqliteFiles(Databases):
    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def empty(self) -> str:
        return f"sqlite:///{self._folder / new_id('db')}.db"

    def copy(self, url: str) -> str:
        new = self.empty()
        shutil.copyfile(url.removeprefix("sqlite:///"), new.removeprefix("sqlite:///"))
        return new


class PostgresDatabases(Databases):
    def __init__(self, server_url: str) -> None:
        self._server_url = server_url

    def empty(self) -> str:
        return self._create("template0")

    def copy(self, url: str) -> str:
        return self._create(make_url(url).database or "")

    def _create(self, template: str) -> str:
        name = new_id("db")
        engine = create_engine(self._server_url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
        engine.dispose()
        return self._server_url.replace("/postgres?", f"/{name}?")
