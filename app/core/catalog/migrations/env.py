"""Alembic's entry: migrates over the connection, and in the transaction, of `Catalog.migrate`."""

from alembic import context

from app.core.catalog.models import Base

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=Base.metadata,
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
