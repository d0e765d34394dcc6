"""What a document's name says: it is a file name, a path, or a URL."""

import re
from pathlib import PurePath

_URL = re.compile(r"https?://[^/?#]*(?P<path>[^?#]*)")


def suffix_of(name: str) -> str:
    """In lower case, with its dot; a URL's is that of its path, whatever stands before and behind it."""
    url = _URL.match(name)
    return PurePath(url["path"] if url else name).suffix.lower()
