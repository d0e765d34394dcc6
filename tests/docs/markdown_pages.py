"""Our Markdown pages, taken apart: code lines, code in sentences, links."""

from collections.abc import Iterator
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])


def code_lines(page: Path) -> list[str]:
    blocks = [token.content for token in tokens(page) if token.type in ("fence", "code_block")]
    return [line.strip() for block in blocks for line in block.splitlines()]


def code_in_sentences(page: Path) -> list[str]:
    return [token.content for token in tokens(page) if token.type == "code_inline"]


def links(page: Path) -> list[str]:
    return [str(token.attrs["href"]) for token in tokens(page) if token.type == "link_open"]


def tokens(page: Path) -> Iterator[Token]:
    for token in MarkdownIt().enable("table").parse(page.read_text()):
        yield token
        yield from token.children or ()
