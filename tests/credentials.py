"""API keys and users for tests that speak to web."""

from typing import Any

from app.core.access import Role
from app.core.catalog import ApiKey, Catalog, NewKey, User
from app.core.key_token import digest_of, new_secret, token_of
from app.web.access.passwords import hashed

PASSWORD = "a password of the tests"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def new_key(catalog: Catalog, tenant: str = "default", role: Role = Role.ADMIN, **more: Any) -> tuple[ApiKey, str]:
    """The key and what its holder sends."""
    secret = new_secret()
    key = catalog.add_key(NewKey(tenant, f"{role} of the tests", role, **more), digest_of(secret))
    return key, token_of(key.id, secret)


def admin_headers(catalog: Catalog, tenant: str = "default") -> dict[str, str]:
    return bearer(new_key(catalog, tenant)[1])


def new_user(catalog: Catalog, name: str, role: Role = Role.ADMIN, tenant: str = "default") -> User:
    """Their password is PASSWORD."""
    return catalog.add_user(tenant, name, role, password_hash=hashed(PASSWORD))
