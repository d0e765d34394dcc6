"""What both databases can store as text, and how text is compared."""

import unicodedata

from app.core.catalog.errors import UnstorableText


def storable(value: str, what: str) -> str:
    """The same text. Raises UnstorableText for NUL and lone surrogates, which Postgres cannot hold."""
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise UnstorableText(
            f"The {what} contains characters that cannot be stored.", "Remove NUL and unpaired surrogate characters."
        )
    return value


def made_storable(value: str) -> str:
    """The text with what cannot be stored replaced: for messages that must not be lost over a character."""
    return value.replace("\0", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")


def folded(value: str) -> str:
    """The text as searches compare it: without differences of case, of width or of how accents are encoded."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", value).casefold())
