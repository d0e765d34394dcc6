"""Text as a browser lays it out: blanks collapsed, gaps between cells, lines and paragraphs."""

import re
from enum import IntEnum

_BLANKS = re.compile(r"[ \t\n]+")


class Gap(IntEnum):
    """What separates two pieces of text, from weak to strong; the strongest asked for wins."""

    NONE = 0
    WORD = 1
    CELL = 2
    FIELD = 3
    LINE = 4
    PARAGRAPH = 5


_WRITTEN = {Gap.NONE: "", Gap.WORD: " ", Gap.CELL: "\t", Gap.FIELD: "; ", Gap.LINE: "\n", Gap.PARAGRAPH: "\n\n"}


class VisibleText:
    """Grows by `write`; a gap is written only once more text follows it, so none stands at either end."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._starts: list[int] = []
        self._length = 0
        self._gap = Gap.NONE

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def separate(self, gap: Gap) -> None:
        self._gap = max(self._gap, gap)

    def write(self, text: str, *, preformatted: bool = False) -> None:
        if preformatted:
            self._append(text)
            return
        words = _BLANKS.sub(" ", text)
        if words.startswith(" "):
            self.separate(Gap.WORD)
        self._append(words.strip(" "))
        if words.endswith(" "):
            self.separate(Gap.WORD)

    def mark(self) -> int:
        """A mark for `since`."""
        return len(self._parts)

    def since(self, mark: int) -> tuple[int, str]:
        """Where the first text written after the mark starts, and all of it on one line."""
        words = " ".join("".join(self._parts[mark:]).split())
        return (self._starts[mark], words) if words else (self._length, "")

    def _append(self, text: str) -> None:
        if not text:
            return
        gap = _WRITTEN[self._gap] if self._parts else ""
        self._gap = Gap.NONE
        self._starts.append(self._length + len(gap))
        self._parts.append(gap + text)
        self._length += len(gap) + len(text)
