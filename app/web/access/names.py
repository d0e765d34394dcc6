"""Names that users and keys may have."""

import re

from app.web.access.errors import BadName

_USER_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,99}")
_LONGEST = 100


def user_name(name: str) -> str:
    """Raises BadName."""
    if not _USER_NAME.fullmatch(name):
        raise BadName(
            f"“{name}” cannot be a user's name.",
            f"Take letters, digits and . _ @ + -, at most {_LONGEST}, a letter or digit first.",
        )
    return name


def key_name(name: str) -> str:
    """Raises BadName."""
    if not name.strip() or len(name) > _LONGEST or not name.isprintable():
        raise BadName("A key needs a name.", f"Take at most {_LONGEST} printable characters.")
    return name.strip()
