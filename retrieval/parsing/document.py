"""What parsing makes of a file."""

import re
from dataclasses import dataclass
from pathlib import PurePath

_LONGEST_TITLE = 300
_LINE_BREAKS = re.compile(r"\r\n?|\f|\v|\u2028")
_CONTROLS_AND_SURROGATES = re.compile(r"[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff\ufeff]")


@dataclass(frozen=True)
class PageSpan:
    """Page `number` (from 1) is `text[start:end]`."""

    number: int
    start: int
    end: int


@dataclass(frozen=True)
class Heading:
    """A heading whose line begins at `start`; `level` 1 is the highest, `text` has no markup."""

    start: int
    level: int
    text: str


@dataclass(frozen=True)
class ParsedDocument:
    """A file's text, and where things are in it.

    Offsets count characters of `text`, which is what is stored, searched and quoted. `pages` and `headings` are in
    order and may be empty.
    """

    title: str
    media_type: str
    text: str
    pages: tuple[PageSpan, ...] = ()
    headings: tuple[Heading, ...] = ()


def clean_text(text: str) -> str:
    """Text that every store and encoding accepts: `\\n` line ends, no control characters, no lone surrogates."""
    return _CONTROLS_AND_SURROGATES.sub("", _LINE_BREAKS.sub("\n", text))


def clean_title(candidate: str | None, name: str) -> str:
    """The candidate on one line, or what the file is called where there is none."""
    title = " ".join(clean_text(candidate or "").split())[:_LONGEST_TITLE]
    return title or PurePath(name).stem or name


def has_text(text: str) -> bool:
    return any(character.isprintable() and not character.isspace() for character in text)
