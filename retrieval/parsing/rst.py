"""reStructuredText: the text of its document tree, as docutils reads it."""

from docutils import nodes
from docutils.core import publish_doctree

from retrieval.parsing.archive import damage_reported
from retrieval.parsing.document import ParsedDocument, clean_text, clean_title
from retrieval.parsing.manuscript import Manuscript
from retrieval.parsing.media_type import MediaType
from retrieval.parsing.table_words import column_numbers, labelled, placed, table_lines

_SETTINGS = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "halt_level": 5,
    # Directives that docutils does not know survive only in its messages.
    "report_level": 1,
    "warning_stream": False,
    "line_length_limit": 1_000_000,
    "syntax_highlight": "none",
}
_UNSEEN = (
    nodes.comment, nodes.substitution_definition, nodes.pending, nodes.target, nodes.raw, nodes.meta,
    nodes.header, nodes.footer, nodes.Invisible,
)  # fmt: skip


def parse_rst(text: str, name: str) -> ParsedDocument:
    """The title is the document's, else its first heading of the highest level used.

    Raises: UnreadableFile.
    """
    reading = _Reading()
    with damage_reported(name):
        reading.read(publish_doctree(clean_text(text), settings_overrides=_SETTINGS))
    manuscript = reading.manuscript
    return manuscript.parsed(clean_title(manuscript.top_heading(), name), MediaType.RST)


class _Reading:
    def __init__(self) -> None:
        self.manuscript = Manuscript()

    def read(self, node: nodes.Node, level: int = 1) -> None:
        """`level` is that of a heading found here."""
        inner = level + any(isinstance(child, nodes.title) for child in node.children)
        for child in node.children:
            match child:
                case nodes.system_message():
                    self.manuscript.lines(_lines(child))
                case _ if isinstance(child, _UNSEEN):
                    pass
                case nodes.section():
                    self.read(child, inner)
                case nodes.title() if isinstance(node, nodes.document | nodes.section):
                    self.manuscript.heading(child.astext(), level)
                case nodes.literal_block():
                    self.manuscript.paragraph(child.astext())
                case nodes.Sequential() | nodes.table() | nodes.docinfo() | nodes.TextElement() | nodes.image():
                    self.manuscript.lines(_lines(child))
                case _:
                    self.read(child, inner)


def _lines(node: nodes.Node) -> list[str]:
    match node:
        case nodes.system_message():
            return [block.astext() for block in node.findall(nodes.literal_block)]
        case _ if isinstance(node, _UNSEEN):
            return []
        case nodes.table():
            return [*(title.astext() for title in node.findall(nodes.title)), *_table_lines(node)]
        case nodes.field():
            name, body = node.children
            return _labelled(name.astext(), body)
        case nodes.definition_list_item():
            terms = [child.astext() for child in node.children if not isinstance(child, nodes.definition)]
            return _labelled(", ".join(terms), node.children[-1])
        case nodes.Bibliographic() if isinstance(node, nodes.TextElement):
            return [labelled(node.tagname.capitalize(), node.astext())]
        case nodes.image():
            return [str(node.get("alt", ""))]
        case nodes.literal_block():
            return [node.astext()]
        case nodes.TextElement():
            return [" ".join(node.astext().split())]
    return [line for child in node.children for line in _lines(child)]


def _labelled(label: str, body: nodes.Node) -> list[str]:
    first, *rest = _lines(body) or [""]
    return [labelled(label, first) if first else label, *rest]


def _table_lines(table: nodes.table) -> list[str]:
    head = [row for part in table.findall(nodes.thead) for row in part.children]
    body = [row for part in table.findall(nodes.tbody) for row in part.children]
    entries = [[entry for entry in row.children if isinstance(entry, nodes.entry)] for row in head + body]
    starts = column_numbers(
        [[(entry.get("morecols", 0) + 1, entry.get("morerows", 0) + 1) for entry in row] for row in entries]
    )
    rows = [
        placed(columns, [" ".join(_lines(entry)) for entry in row])
        for columns, row in zip(starts, entries, strict=True)
    ]
    return table_lines(rows, len(head) or None)
