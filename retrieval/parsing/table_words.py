"""Tables in words: every row says which column each of its values belongs to."""

import re
from collections.abc import Sequence

_NUMBER = re.compile(r"[-+(]?[\s\d.,:/%€$£¥()-]*\d[\s\d.,:/%€$£¥()-]*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_BETWEEN = "; "

Row = Sequence[str]


def table_lines(rows: Sequence[Row], header_rows: int | None = None) -> list[str]:
    """`Header: value; Header: value` for each row; empty cells are left out.

    Where it is not known that `header_rows` rows are a header, the first row with several cells is taken for one if
    others follow and it holds words that differ. What stands before it are lines of
    their own, and so is a header of which some names no value.
    """
    filled = [row for row in ([" ".join(cell.split()) for cell in row] for row in rows) if any(row)]
    if header_rows is None:
        first = next((number for number, row in enumerate(filled) if sum(map(bool, row)) > 1), len(filled))
        head = filled[:first]
        header_rows = int(first + 1 < len(filled) and _is_header(filled[first]))
    else:
        first, head = 0, []
    header_end = first + header_rows
    body = filled[header_end:]
    if not body:
        return [_plain_line(row) for row in filled]
    labels = _labels(filled[first:header_end])
    used = {column for row in body for column, cell in enumerate(row) if cell}
    if any(label and column not in used for column, label in enumerate(labels)):
        head = [*head, labels]
    return [_plain_line(row) for row in head] + [_labelled_line(labels, row) for row in body]


def _labelled_line(labels: Row, row: Row) -> str:
    """Cells beyond the labels stand without one."""
    padded = [*labels, *[""] * (len(row) - len(labels))]
    return _BETWEEN.join(labelled(label, cell) for label, cell in zip(padded, row, strict=False) if cell)


def labelled(label: str, value: str) -> str:
    name = label.rstrip(" :：")  # noqa: RUF001  (a Japanese colon)
    return f"{name}: {value}" if name else value


def _plain_line(row: Row) -> str:
    return _BETWEEN.join(cell for cell in row if cell)


def _labels(header: Sequence[Row]) -> list[str]:
    """One label a column; a header of several rows gives each its words from top to bottom."""
    width = max(map(len, header), default=0)
    columns = [[row[column] for row in header if column < len(row) and row[column]] for column in range(width)]
    return [" ".join(dict.fromkeys(words)) for words in columns]


def _is_header(row: Row) -> bool:
    words = [cell for cell in row if cell]
    numbers = [cell for cell in words if _NUMBER.fullmatch(cell) and not _YEAR.fullmatch(cell)]
    return len(set(words)) == len(words) and not numbers and not all(map(_YEAR.fullmatch, words))


def column_numbers(spans: Sequence[Sequence[tuple[int, int]]]) -> list[list[int]]:
    """The column in which each cell of each row starts; `spans` says over how many columns and rows each goes."""
    rows_below: dict[int, int] = {}
    numbers = []
    for row in spans:
        taken = set(rows_below)
        rows_below = {column: rows - 1 for column, rows in rows_below.items() if rows > 1}
        starts: list[int] = []
        column = 0
        for width, height in row:
            while column in taken:
                column += 1
            starts.append(column)
            if height > 1:
                rows_below.update(dict.fromkeys(range(column, column + width), height - 1))
            column += width
        numbers.append(starts)
    return numbers


def placed(columns: Sequence[int], cells: Row) -> list[str]:
    """The row with each cell in its column, the others empty."""
    row = [""] * (max(columns, default=-1) + 1)
    for column, cell in zip(columns, cells, strict=True):
        row[column] = cell
    return row
