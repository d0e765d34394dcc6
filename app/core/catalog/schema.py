"""The database's schema: brought up to date by the migrations that are part of this package."""

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from app.core.catalog.database import Database, lock_name
from app.core.catalog.errors import SchemaError


class Schema(Database):
    def migrate(self) -> None:
        """Bring the schema up to date in one transaction; several processes may do so at once.

        Raises: SchemaError if the database was made by a version of Preread that this one does not know.
        """
        config = _config()
        with self._connect() as connection:
            lock_name(connection, "preread migrate")
            found = MigrationContext.configure(connection).get_current_revision()
            known = {script.revision for script in ScriptDirectory.from_config(config).walk_revisions()}
            if found is not None and found not in known:
                raise SchemaError(
                    f"The database is at revision {found}, which this version of Preread does not know.",
                    "Use the version of Preread that wrote it, or a newer one.",
                )
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def is_current(self) -> bool:
        """Whether the schema is the one this version of Preread works with."""
        with self._read() as session:
            found = MigrationContext.configure(session.connection()).get_current_revision()
        return found == ScriptDirectory.from_config(_config()).get_current_head()


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", "app.core.catalog:migrations")
    config.set_main_option("path_separator", "os")
    return config
