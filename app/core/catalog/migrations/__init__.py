"""Alembic's migrations of the catalog, run by `Catalog.migrate`."""
