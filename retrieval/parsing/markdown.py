"""Markdown: the source is the text; the parser only finds the headings in it."""

import re
from itertools import pairwise

from markdown_it import MarkdownIt

from retrieval.parsing.document import Heading, ParsedDocument, clean_text, clean_title
from retrieval.parsing.media_type import MediaType

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_FRONT_MATTER_TITLE = re.compile(r"^title:[ \t]*(.+?)[ \t]*$", re.MULTILINE)
_LINE_START = re.compile(r"^", re.MULTILINE)


def parse_markdown(text: str, name: str) -> ParsedDocument:
    """The title is the front matter's, else the first heading of the highest level used."""
    text = clean_text(text)
    front_matter = _FRONT_MATTER.match(text)
    headings = _headings(text, front_matter.end() if front_matter else 0)
    title = _FRONT_MATTER_TITLE.search(front_matter[1]) if front_matter else None
    if title:
        candidate: str | None = title[1].strip("\"'")
    else:
        candidate = min(headings, key=lambda heading: (heading.level, heading.start)).text if headings else None
    return ParsedDocument(clean_title(candidate, name), MediaType.MARKDOWN, text, headings=headings)


def _headings(text: str, body_start: int) -> tuple[Heading, ...]:
    # Inline rules are slow and only the headings need them.
    blocks = MarkdownIt("commonmark").disable("inline")
    inline = MarkdownIt("commonmark")
    body = text[body_start:]
    line_starts = [match.start() for match in _LINE_START.finditer(body)]
    tokens = blocks.parse(body)
    headings = []
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open" and opening.map:
            words = _visible(inline, content.content)
            if words:
                headings.append(Heading(body_start + line_starts[opening.map[0]], int(opening.tag[1:]), words))
    return tuple(headings)


def _visible(inline: MarkdownIt, source: str) -> str:
    (token,) = inline.parseInline(source)
    parts = [
        child.content if child.type in {"text", "code_inline"} else " "
        for child in token.children or []
        if child.type in {"text", "code_inline", "softbreak", "hardbreak"}
    ]
    return " ".join("".join(parts).split())
