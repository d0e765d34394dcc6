"""The database for commands that work on keys and users: made or brought up to date where that has not been done."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from getpass import getuser
from typing import TYPE_CHECKING

import typer

from app.core.settings import TENANT_PATTERN, Settings

if TYPE_CHECKING:
    from app.core.catalog import Catalog
    from app.web.access.key_making import KeyMaking
    from app.web.access.user_making import UserMaking


@dataclass(frozen=True)
class AccessDatabase:
    """`tenant`: whose keys and users are meant."""

    catalog: "Catalog"
    tenant: str
    keys: "KeyMaking"
    users: "UserMaking"


@contextmanager
def access_database(settings: Settings, tenant: str) -> Iterator[AccessDatabase]:
    """An empty tenant is the operator's. Raises DatabaseUnavailable, SchemaError."""
    from app.core.catalog import Catalog
    from app.web.access.audit import Audit
    from app.web.access.key_making import KeyMaking
    from app.web.access.user_making import UserMaking

    if tenant and not re.fullmatch(TENANT_PATTERN, tenant):
        raise typer.BadParameter(f"{tenant!r} does not fit {TENANT_PATTERN}", param_hint="--tenant")
    catalog = Catalog(settings.effective_database_url)
    try:
        catalog.migrate()
        owner = tenant or settings.tenant
        audit = Audit.of_command_line(catalog, owner, getuser())
        yield AccessDatabase(catalog, owner, KeyMaking(catalog, audit), UserMaking(catalog, audit))
    finally:
        catalog.close()
