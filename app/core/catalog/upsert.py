"""INSERT … ON CONFLICT, which SQLite and Postgres spell alike but SQLAlchemy keeps apart."""

from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.orm import Session

from app.core.catalog.models import Base

Insert = postgresql.Insert | sqlite.Insert


def upsert(session: Session, table: type[Base]) -> Insert:
    """An insert into `table` that offers `on_conflict_do_update`."""
    if session.get_bind().dialect.name == "postgresql":
        return postgresql.insert(table)
    return sqlite.insert(table)
