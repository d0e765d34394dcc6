"""The first start: an admin to sign in as, and an API key for the command line."""

import sys

from app.cli.console import out, say
from app.cli.operator_key import write_operator_key
from app.core.access import Role
from app.core.catalog import Catalog, NewKey
from app.core.key_token import digest_of, parts_of
from app.core.settings import Settings
from app.web.access.audit import Audit
from app.web.access.key_making import KeyMaking
from app.web.access.user_making import UserMaking

ADMIN = "admin"

_KEY_NAME = "the command line beside preread up"


def provide_access(settings: Settings, catalog: Catalog) -> None:
    """Where there is no user, make `admin`; where the state folder has no key that is good, put one there."""
    audit = Audit.of_command_line(catalog, settings.tenant, "preread up")
    if not catalog.has_users():
        _, password = UserMaking(catalog, audit).make(settings.tenant, ADMIN, Role.ADMIN, None)
        _tell(password)
    if not _is_good(settings, catalog):
        wanted = NewKey(settings.tenant, _KEY_NAME, Role.ADMIN, requests_per_minute=0, concurrent_requests=0)
        _, token = KeyMaking(catalog, audit).make(wanted)
        write_operator_key(settings.operator_key_file, token)


def _tell(password: str) -> None:
    """On a terminal alone: what is not one may be a log, which keeps what it gets."""
    if sys.stdout.isatty():
        out.print(
            f"\nSign in on the pages as [bold]{ADMIN}[/bold] with the password [bold]{password}[/bold]\n"
            "It is not shown again; another one: preread user password admin\n"
        )
    else:
        say(f"sign in on the pages as {ADMIN}; for a password: preread user password {ADMIN}")


def _is_good(settings: Settings, catalog: Catalog) -> bool:
    """Whether the state folder's key is one of this database's, of this tenant, and not ended."""
    try:
        parts = parts_of(settings.operator_key_file.read_text().strip())
    except FileNotFoundError:
        return False
    key = catalog.find_key(parts[0]) if parts else None
    return (
        parts is not None
        and key is not None
        and digest_of(parts[1]) in key.digests
        and key.tenant == settings.tenant
        and key.revoked_at is None
    )
