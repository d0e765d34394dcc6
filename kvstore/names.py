"""How tenants and keys are spelled. They end up in paths and Redis keys, so nothing else may pass."""

import re

from kvstore.errors import BadName

_TENANT = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_KEY = re.compile(r"[0-9a-f]{64}")


def checked_tenant(tenant: str) -> str:
    """`tenant` itself. Raises: BadName unless it is 1 to 63 of a-z 0-9 _ -, starting with a letter or digit."""
    if _TENANT.fullmatch(tenant) is None:
        raise BadName(f"{tenant!r} is not a tenant.", "Use 1 to 63 of a-z, 0-9, _ and -.")
    return tenant


def checked_key(key: str) -> str:
    """`key` itself. Raises: BadName unless it is 64 lower-case hex characters."""
    if _KEY.fullmatch(key) is None:
        raise BadName(f"{key!r} is not a store key.", "Make keys with kvstore.key.chunk_key.")
    return key


__all__ = ["checked_key", "checked_tenant"]
