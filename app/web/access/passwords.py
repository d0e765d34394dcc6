"""Passwords: made, hashed with argon2id, and compared."""

import secrets
from functools import cache
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from app.web.access.errors import WeakPassword

_SHORTEST = 12
_LONGEST = 1000
_RANDOM_BYTES = 15
_AT_ONCE = 2  # 64 MiB each

_hasher = PasswordHasher()
_turns = BoundedSemaphore(_AT_ONCE)


def random_password() -> str:
    return secrets.token_urlsafe(_RANDOM_BYTES)


def hashed(password: str) -> str:
    """Takes about a tenth of a second. Raises WeakPassword."""
    if not _SHORTEST <= len(password) <= _LONGEST:
        raise WeakPassword(f"A password has {_SHORTEST} to {_LONGEST} characters.", "Choose a longer one.")
    with _turns:
        return _hasher.hash(password)


def is_password(password: str, password_hash: str | None) -> bool:
    """The same work where there is no hash to compare with."""
    try:
        with _turns:
            same = _hasher.verify(password_hash or _nobodys_hash(), password)
    except (VerificationError, InvalidHashError):
        return False
    return same and password_hash is not None


@cache
def _nobodys_hash() -> str:
    return _hasher.hash(random_password())
