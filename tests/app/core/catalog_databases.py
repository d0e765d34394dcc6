"""Databases for the catalog's tests."""

import shutil
from abc import ABC, abstractmethod
from functools import cached_property
from pathlib import Path

from sqlalchemy import create_engine, make_url, text

from app.core.catalog import Catalog
from app.core.catalog.models import Base
from app.core.ids import new_id


class Databases(ABC):
    """Databases of one kind; migrating once is what keeps the tests quick."""

    @abstractmethod
    def empty(self) -> str:
        """The URL of a new database."""

    @abstractmethod
    def copy(self, url: str) -> str:
        """The URL of a new database with the same contents."""

    @abstractmethod
    def clean(self) -> str:
        """The URL of a migrated database without rows; the one handed out before may be used again."""

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

    def clean(self) -> str:
        return self.copy(self.migrated)


class PostgresDatabases(Databases):
    def __init__(self, server_url: str) -> None:
        self._server_url = server_url

    def empty(self) -> str:
        return self._create("template0")

    def copy(self, url: str) -> str:
        return self._create(make_url(url).database or "")

    def clean(self) -> str:
        engine = create_engine(self._used)
        tables = ", ".join(Base.metadata.tables)
        with engine.begin() as connection:
            connection.execute(text("SET LOCAL lock_timeout = '30s'"))
            connection.execute(text(f"TRUNCATE {tables}"))
        engine.dispose()
        return self._used

    @cached_property
    def _used(self) -> str:
        return self.copy(self.migrated)

    def _create(self, template: str) -> str:
        name = new_id("db")
        engine = create_engine(self._server_url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            connection.execute(text(f"CREATE DATABASE {name} TEMPLATE {template}"))
        engine.dispose()
        return self._server_url.replace("/postgres?", f"/{name}?")
