"""CSV and its kin: each row in words."""

import csv
from io import StringIO

from retrieval.errors import UnreadableFile
from retrieval.parsing.document import ParsedDocument, clean_text, clean_title
from retrieval.parsing.manuscript import Manuscript
from retrieval.parsing.media_type import MediaType
from retrieval.parsing.table_words import table_lines

_DELIMITERS = ",;\t|"
_SAMPLE_LINES = 50
_LONGEST_FIELD = 1_000_000


def parse_csv(text: str, name: str) -> ParsedDocument:
    """Raises: UnreadableFile."""
    cleaned = clean_text(text)
    csv.field_size_limit(_LONGEST_FIELD)
    try:
        rows = list(csv.reader(StringIO(cleaned), delimiter=_delimiter(cleaned)))
    except csv.Error as error:
        raise UnreadableFile(
            f"{name} is not a table: {error}.", "Check its quotation marks, or add it as a .txt file."
        ) from error
    manuscript = Manuscript()
    manuscript.lines(table_lines(rows))
    return manuscript.parsed(clean_title(None, name), MediaType.CSV)


def _delimiter(text: str) -> str:
    """The sign that cuts most of the first lines into the same number of fields, more than one."""
    sample = "\n".join(text.split("\n", _SAMPLE_LINES)[:_SAMPLE_LINES])
    return max(_DELIMITERS, key=lambda delimiter: _evenness(sample, delimiter))


def _evenness(sample: str, delimiter: str) -> tuple[int, int]:
    widths = [len(row) for row in csv.reader(StringIO(sample), delimiter=delimiter) if row]
    commonest = max(set(widths), key=widths.count, default=1)
    return (widths.count(commonest), commonest) if commonest > 1 else (0, 1)
