"""HTML: what a reader of the page sees."""

import re

from bs4 import BeautifulSoup, Tag
from bs4.element import CData, NavigableString, PageElement

from retrieval.parsing.document import Heading, ParsedDocument, clean_text, clean_title
from retrieval.parsing.html_table import TableLabels, words
from retrieval.parsing.media_type import MediaType
from retrieval.parsing.visible_text import Gap, VisibleText

_DECLARATION_WITHIN = 4096
_DECLARATION = re.compile(rb"(?:<meta[^>]*charset|<\?xml[^>]*encoding)\s*=\s*[\"']?\s*([\w:.-]+)", re.IGNORECASE)
_UNSEEN = {"head", "script", "style", "template", "noscript", "iframe", "object", "svg", "math", "select", "datalist"}
_PARAGRAPHS = {
    "address", "article", "aside", "blockquote", "body", "details", "div", "dl", "fieldset", "figcaption", "figure",
    "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "header", "hr", "main", "nav", "ol", "p", "pre", "section",
    "summary", "table", "ul",
}  # fmt: skip
_LINES = {"br", "caption", "dd", "dt", "li", "tr"}
_CELLS = {"td", "th"}
_GAPS = dict.fromkeys(_PARAGRAPHS, Gap.PARAGRAPH) | dict.fromkeys(_LINES, Gap.LINE) | dict.fromkeys(_CELLS, Gap.CELL)
_HEADING_LEVELS = {f"h{level}": level for level in range(1, 7)}
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)


def declared_encoding(data: bytes) -> str | None:
    """The encoding that an HTML or XML file names in its first lines."""
    found = _DECLARATION.search(data[:_DECLARATION_WITHIN])
    return found[1].decode("ascii") if found else None


def parse_html(text: str, name: str) -> ParsedDocument:
    """The title is the page's, else its first heading of the highest level used."""
    soup = BeautifulSoup(clean_text(text), "lxml")
    page = _Page()
    page.read(soup)
    top = min(page.headings, key=lambda heading: (heading.level, heading.start), default=None)
    title = soup.title.get_text() if soup.title else ""
    return ParsedDocument(
        clean_title(title.strip() or (top.text if top else None), name),
        MediaType.HTML,
        page.visible.text,
        headings=tuple(page.headings),
    )


class _Page:
    """Walks the tree with a stack of its own, because pages nest deeper than Python's may be."""

    def __init__(self) -> None:
        self.visible = VisibleText()
        self.headings: list[Heading] = []
        self._preformatted = 0
        self._heading_mark = 0
        self._labels: dict[int, str] = {}
        self._headers: set[int] = set()
        self._labelled_cells = 0

    def read(self, root: Tag) -> None:
        todo: list[tuple[PageElement, bool]] = [(root, True)]
        while todo:
            element, opening = todo.pop()
            if isinstance(element, Tag):
                if not opening:
                    self._close(element)
                elif not _is_unseen(element) and id(element) not in self._headers:
                    self._open(element)
                    todo.append((element, False))
                    todo.extend((child, True) for child in reversed(element.contents))
            elif type(element) in {NavigableString, CData}:
                self.visible.write(str(element), preformatted=self._preformatted > 0)

    def _open(self, tag: Tag) -> None:
        self._separate(tag)
        self._preformatted += tag.name == "pre"
        if tag.name == "table":
            table = TableLabels(tag)
            self._labels |= table.labels
            self._headers |= table.headers
        if id(tag) in self._labels:
            self._labelled_cells += 1
            label = self._labels[id(tag)]
            if label and words(tag):
                self.visible.write(f"{label.rstrip(' :')}: ")
        if tag.name in _HEADING_LEVELS:
            self._heading_mark = self.visible.mark()

    def _close(self, tag: Tag) -> None:
        self._preformatted -= tag.name == "pre"
        self._labelled_cells -= id(tag) in self._labels
        if tag.name in _HEADING_LEVELS:
            start, text = self.visible.since(self._heading_mark)
            if text:
                self.headings.append(Heading(start, _HEADING_LEVELS[tag.name], text))
        self._separate(tag)

    def _separate(self, tag: Tag) -> None:
        gap = Gap.FIELD if id(tag) in self._labels else _GAPS.get(tag.name, Gap.NONE)
        # A row in words stays on one line.
        self.visible.separate(min(gap, Gap.WORD) if self._labelled_cells else gap)


def _is_unseen(tag: Tag) -> bool:
    return tag.name in _UNSEEN or tag.has_attr("hidden") or bool(_HIDDEN_STYLE.search(str(tag.get("style", ""))))
