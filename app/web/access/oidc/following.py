"""Where a browser may be sent after signing in: to a page of ours, whatever was asked for. Pure."""

_LONGEST = 1000
_SIGN_IN = "/auth/"


def own_path(wanted: str) -> str:
    """`wanted`, where it is a path of this host, else `/`.

    Browsers take `//host` and `/\\host` for other hosts, and pass over control characters inside.
    """
    plain = wanted.isprintable() and not any(character in wanted for character in "\\ ")
    own = wanted.startswith("/") and not wanted.startswith(("//", _SIGN_IN))
    return wanted if plain and own and len(wanted) <= _LONGEST else "/"
