"""A document's text as it is put together, with where its pages and headings are."""

from dataclasses import replace

from retrieval.parsing.document import Heading, PageSpan, ParsedDocument, clean_text
from retrieval.parsing.media_type import MediaType

_LINE = "\n"
_PARAGRAPH = "\n\n"


class Manuscript:
    """Grows piece by piece; gaps stand only between pieces."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._headings: list[Heading] = []
        self._pages: list[PageSpan] = []

    def paragraph(self, text: str) -> None:
        self._append(clean_text(text).strip(), _PARAGRAPH)

    def line(self, text: str) -> None:
        """A line that follows the one before without an empty line."""
        self._append(" ".join(clean_text(text).split()), _LINE)

    def lines(self, lines: list[str]) -> None:
        """A paragraph of lines."""
        self.paragraph("\n".join(lines))

    def heading(self, text: str, level: int) -> None:
        words = " ".join(clean_text(text).split())
        if words:
            self._append(words, _PARAGRAPH)
            self._headings.append(Heading(self._length - len(words), level, words))

    def include(self, parsed: ParsedDocument) -> None:
        """Everything of another document, with its headings."""
        leading = len(parsed.text) - len(parsed.text.lstrip())
        text = parsed.text.strip()
        self._append(text, _PARAGRAPH)
        moved = self._length - len(text) - leading
        self._headings.extend(replace(heading, start=heading.start + moved) for heading in parsed.headings)

    def end_page(self, number: int) -> None:
        """What came since the last page ended is page `number`."""
        start = self._pages[-1].end + len(_PARAGRAPH) if self._pages and self._pages[-1].end else 0
        self._pages.append(PageSpan(number, min(start, self._length), self._length))

    def top_heading(self) -> str | None:
        """The first heading of the highest level used."""
        top = min(self._headings, key=lambda heading: (heading.level, heading.start), default=None)
        return top.text if top else None

    def parsed(self, title: str, media_type: MediaType) -> ParsedDocument:
        return ParsedDocument(title, media_type, "".join(self._parts), tuple(self._pages), tuple(self._headings))

    def _append(self, text: str, gap: str) -> None:
        if text:
            if self._pages and self._pages[-1].end == self._length:
                gap = _PARAGRAPH
            piece = gap + text if self._length else text
            self._parts.append(piece)
            self._length += len(piece)
