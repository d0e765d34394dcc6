"""Identifiers: a short prefix that says what it names, then 20 random base-32 characters."""

import secrets

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(prefix: str) -> str:
    """A fresh identifier such as `doc_4x0k…`; 100 random bits."""
    return f"{prefix}_" + "".join(secrets.choice(_ALPHABET) for _ in range(20))
