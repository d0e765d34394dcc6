"""Excel: each sheet a page under its name, each row in words, values as the sheet shows them."""

from collections.abc import Iterator
from io import BytesIO
from typing import Any

from openpyxl import load_workbook

from retrieval.parsing.archive import damage_reported
from retrieval.parsing.cell_text import cell_text
from retrieval.parsing.document import ParsedDocument, clean_title
from retrieval.parsing.manuscript import Manuscript
from retrieval.parsing.media_type import MediaType
from retrieval.parsing.table_words import table_lines

_VISIBLE = "visible"


def parse_xlsx(data: bytes, name: str) -> ParsedDocument:
    """Formulas are read as the values that were last computed for them. Hidden sheets are not read.

    Raises: UnreadableFile.
    """
    manuscript = Manuscript()
    with damage_reported(name):
        workbook = load_workbook(BytesIO(data), read_only=True, data_only=True, keep_links=False)
        # Its types do not know of sheets that are read only.
        sheets: list[Any] = workbook.worksheets
        for number, sheet in enumerate(sheets, start=1):
            if sheet.sheet_state == _VISIBLE:
                _read(sheet, manuscript)
            manuscript.end_page(number)
        title = workbook.properties.title
    return manuscript.parsed(clean_title(title, name), MediaType.XLSX)


def _read(sheet: Any, manuscript: Manuscript) -> None:
    # What a file says of its own extent is often wrong.
    sheet.reset_dimensions()
    tables = [lines for lines in map(table_lines, _tables(sheet)) if lines]
    if tables:
        manuscript.heading(sheet.title, 1)
    for lines in tables:
        manuscript.lines(lines)


def _tables(sheet: Any) -> Iterator[list[list[str]]]:
    """Runs of rows with empty rows between them."""
    rows: list[list[str]] = []
    for cells in sheet.iter_rows():
        row = [cell_text(cell.value, getattr(cell, "number_format", "General")) for cell in cells]
        if any(row):
            rows.append(row)
        elif rows:
            yield rows
            rows = []
    if rows:
        yield rows
