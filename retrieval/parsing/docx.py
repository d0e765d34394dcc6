"""Word: paragraphs, headings by the level of their styles, tables in words, and notes at the end."""

import re
from collections.abc import Iterator
from io import BytesIO
from typing import cast

from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.opc.part import PartFactory
from docx.oxml import parse_xml
from docx.oxml.ns import qn
from docx.oxml.xmlchemy import BaseOxmlElement
from docx.package import Package
from docx.parts.document import DocumentPart
from docx.styles.style import BaseStyle

from retrieval.parsing.archive import damage_reported
from retrieval.parsing.document import ParsedDocument, clean_title
from retrieval.parsing.manuscript import Manuscript
from retrieval.parsing.media_type import MediaType
from retrieval.parsing.table_words import table_lines

# Documents with macros are read like any other.
PartFactory.part_type_for["application/vnd.ms-word.document.macroEnabled.main+xml"] = DocumentPart

_HEADING_STYLE = re.compile(r"heading ([1-9])", re.IGNORECASE)
_BODY_LEVEL = 9
_BLOCK_HOLDERS = {qn("w:sdt"), qn("w:sdtContent"), qn("w:customXml"), qn("w:ins"), qn("w:moveTo")}
_TEXT_BOX = qn("w:txbxContent")
# What was deleted or moved away, and a second form of what is there already.
_UNSEEN = {qn("w:del"), qn("w:moveFrom"), "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"}
_TEXTS = {qn("w:t"), "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"}
_SIGNS = {qn("w:tab"): "\t", qn("w:br"): "\n", qn("w:cr"): "\n", qn("w:noBreakHyphen"): "-"}
_PROPERTIES = {qn("w:pPr"), qn("w:rPr"), qn("w:tblPr"), qn("w:tcPr"), qn("w:sectPr")}
_NOTES = (RELATIONSHIP_TYPE.FOOTNOTES, RELATIONSHIP_TYPE.ENDNOTES)


def parse_docx(data: bytes, name: str) -> ParsedDocument:
    """The title is the file's own, else that of its title style, else its first heading of the highest level.

    Raises: UnreadableFile.
    """
    with damage_reported(name):
        document = cast("DocumentPart", Package.open(BytesIO(data)).main_document_part).document
        reading = _Reading(document)
        for block in _blocks(document.element.body):
            reading.block(block)
        for note in _notes(document):
            reading.manuscript.paragraph(note)
        title = document.core_properties.title
    written = reading.manuscript
    return written.parsed(clean_title(title or reading.title or written.top_heading(), name), MediaType.DOCX)


class _Reading:
    def __init__(self, document: Document) -> None:
        self.manuscript = Manuscript()
        self.title: str | None = None
        self._styles = {style.style_id: style for style in document.styles}
        self._was_list_item = False

    def block(self, block: BaseOxmlElement) -> None:
        if block.tag == qn("w:tbl"):
            self.manuscript.lines(table_lines(_rows(block), _header_rows(block)))
            return
        text = _text(block).strip()
        style = self._styles.get(block.style) if block.style else None
        level = _outline_level(block, style)
        is_list_item = any(holder.xpath("./w:pPr/w:numPr") for holder in (block, style.element if style else block))
        if text and level:
            self.manuscript.heading(text, level)
        elif is_list_item and self._was_list_item:
            self.manuscript.line(text)
        else:
            self.manuscript.paragraph(text)
        self._was_list_item = is_list_item
        if style is not None and style.name == "Title" and not self.title:
            self.title = text
        for box in _text_boxes(block):
            for inner in _blocks(box):
                self.block(inner)


def _blocks(holder: BaseOxmlElement) -> Iterator[BaseOxmlElement]:
    """Paragraphs and tables, also those inside content controls."""
    for child in holder:
        if child.tag in {qn("w:p"), qn("w:tbl")}:
            yield child
        elif child.tag in _BLOCK_HOLDERS:
            yield from _blocks(child)


def _text_boxes(element: BaseOxmlElement) -> Iterator[BaseOxmlElement]:
    for child in element:
        if child.tag == _TEXT_BOX:
            yield child
        elif child.tag not in _UNSEEN:
            yield from _text_boxes(child)


def _text(element: BaseOxmlElement) -> str:
    """What a reader sees of an element, without the text boxes that hang on it."""
    parts: list[str] = []
    todo = [element]
    while todo:
        current = todo.pop()
        if current.tag in _TEXTS:
            parts.append(current.text or "")
        elif current.tag in _SIGNS:
            parts.append(_SIGNS[current.tag])
        elif current.tag not in _UNSEEN | _PROPERTIES and current.tag != _TEXT_BOX:
            todo.extend(reversed(current))
    return "".join(parts)


def _outline_level(paragraph: BaseOxmlElement, style: BaseStyle | None) -> int | None:
    """1 for the highest; None for body text. A style has what the style it is based on has."""
    if own := paragraph.xpath("./w:pPr/w:outlineLvl/@w:val"):
        return _level(own[0])
    seen: set[str] = set()
    while style is not None and style.style_id not in seen:
        seen.add(style.style_id)
        if named := _HEADING_STYLE.fullmatch(style.name or ""):
            return int(named[1])
        if level := style.element.xpath("./w:pPr/w:outlineLvl/@w:val"):
            return _level(level[0])
        style = getattr(style, "base_style", None)
    return None


def _level(value: str) -> int | None:
    return int(value) + 1 if int(value) < _BODY_LEVEL else None


def _rows(table: BaseOxmlElement) -> list[list[str]]:
    """The cells of each row in their columns; a merged cell is in the first of its places only."""
    rows = []
    for row in table.xpath("./w:tr | ./w:sdt/w:sdtContent/w:tr | ./w:ins/w:tr"):
        cells = [""] * _span(row, "./w:trPr/w:gridBefore/@w:val", 0)
        for cell in row.xpath("./w:tc | ./w:sdt/w:sdtContent/w:tc"):
            continued = cell.xpath("./w:tcPr/w:vMerge[not(@w:val) or @w:val='continue']")
            words = "" if continued else " ".join(_text(paragraph) for paragraph in cell.iter(qn("w:p")))
            cells += [words, *[""] * (_span(cell, "./w:tcPr/w:gridSpan/@w:val", 1) - 1)]
        rows.append(cells)
    return rows


def _span(element: BaseOxmlElement, path: str, default: int) -> int:
    found = element.xpath(path)
    return min(int(found[0]), 1000) if found else default


def _header_rows(table: BaseOxmlElement) -> int | None:
    """How many rows the document itself marks as header; None where it marks none."""
    marked = 0
    for row in table.xpath("./w:tr"):
        if not row.xpath("./w:trPr/w:tblHeader[not(@w:val) or (@w:val!='0' and @w:val!='false')]"):
            break
        marked += 1
    return marked or None


def _notes(document: Document) -> Iterator[str]:
    for relation in document.part.rels.values():
        if relation.reltype in _NOTES and not relation.is_external:
            for note in parse_xml(relation.target_part.blob).iter(qn("w:footnote"), qn("w:endnote")):
                yield "\n".join(_text(paragraph) for paragraph in note.iter(qn("w:p")))
