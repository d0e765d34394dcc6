"""PowerPoint: each slide a page under its title, with tables in words and the speaker's notes."""

from collections.abc import Iterable, Iterator
from io import BytesIO

from pptx import Presentation
from pptx.shapes.autoshape import Shape
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape
from pptx.slide import Slide
from pptx.table import Table
from pptx.text.text import TextFrame

from retrieval.parsing.archive import damage_reported
from retrieval.parsing.document import ParsedDocument, clean_title
from retrieval.parsing.manuscript import Manuscript
from retrieval.parsing.media_type import MediaType
from retrieval.parsing.table_words import table_lines


def parse_pptx(data: bytes, name: str) -> ParsedDocument:
    """The title is the file's own, else that of its first slide that has one. Hidden slides are not read.

    Raises: UnreadableFile.
    """
    manuscript = Manuscript()
    with damage_reported(name):
        presentation = Presentation(BytesIO(data))
        for number, slide in enumerate(presentation.slides, start=1):
            if slide.element.get("show") not in {"0", "false"}:
                _read(slide, manuscript)
            manuscript.end_page(number)
        title = presentation.core_properties.title
    if not title or title.strip().lower() == "powerpoint presentation":
        title = manuscript.top_heading()
    return manuscript.parsed(clean_title(title, name), MediaType.PPTX)


def _read(slide: Slide, manuscript: Manuscript) -> None:
    title = slide.shapes.title
    if title is not None:
        manuscript.heading(_text(title.text_frame), 1)
    for shape in _flat(slide.shapes):
        if title is not None and shape.shape_id == title.shape_id:
            continue
        if isinstance(shape, GraphicFrame) and shape.has_table:
            manuscript.lines(_table_lines(shape.table))
        elif isinstance(shape, Shape):
            manuscript.paragraph(_text(shape.text_frame))
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = _text(slide.notes_slide.notes_text_frame)
        manuscript.paragraph(f"Notes: {notes}" if notes else "")


def _flat(shapes: Iterable[BaseShape]) -> Iterator[BaseShape]:
    for shape in shapes:
        if isinstance(shape, GroupShape):
            yield from _flat(shape.shapes)
        else:
            yield shape


def _text(frame: TextFrame) -> str:
    return "\n".join(line for line in (paragraph.text.strip() for paragraph in frame.paragraphs) if line)


def _table_lines(table: Table) -> list[str]:
    rows = [["" if cell.is_spanned else cell.text for cell in row.cells] for row in table.rows]
    return table_lines(rows, 1 if table.first_row and len(rows) > 1 else None)
