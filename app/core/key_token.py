"""API keys as they are sent: `prk_<id>_<secret>`. Of the secret only its SHA-256 is kept.

The secret is 32 random bytes, which nobody guesses however quickly they hash: a slow hash, as passwords need, would
only cost every request its time.
"""

import secrets
from hashlib import sha256

_PREFIX = "prk_"
_ID_PREFIX = "key_"
_SECRET_BYTES = 32


def new_secret() -> str:
    return secrets.token_urlsafe(_SECRET_BYTES)


def digest_of(secret: str) -> str:
    """SHA-256 in hex."""
    return sha256(secret.encode()).hexdigest()


def token_of(key_id: str, secret: str) -> str:
    """What the key's holder sends."""
    return f"{_PREFIX}{key_id.removeprefix(_ID_PREFIX)}_{secret}"


def parts_of(token: str) -> tuple[str, str] | None:
    """The key's id and the secret; None for what is no key of ours."""
    key_id, separator, secret = token.removeprefix(_PREFIX).partition("_")
    if not token.startswith(_PREFIX) or not (key_id and separator and secret):
        return None
    return f"{_ID_PREFIX}{key_id}", secret
