"""Which header names a cell of an HTML table."""

from bs4 import Tag

from retrieval.parsing.table_words import column_numbers

_CELLS = ("td", "th")
_LARGEST_SPAN = 1000


class TableLabels:
    """A table of data has header rows over other rows, or header cells before others.

    The header then is the label of the cells it names, and a text of its own only where a part of it names none. Tables
    with tables inside are layout.
    """

    def __init__(self, table: Tag) -> None:
        self.labels: dict[int, str] = {}
        self.headers: set[int] = set()
        if table.find("table") is None:
            rows = [row for row in table.find_all("tr") if row.find(_CELLS)]
            self._read(rows, [row.find_all(_CELLS, recursive=False) for row in rows])

    def _read(self, rows: list[Tag], cells: list[list[Tag]]) -> None:
        header_rows = 0
        while header_rows < len(rows) and _is_header(rows[header_rows], cells[header_rows]):
            header_rows += 1
        if header_rows in {0, len(rows)}:
            self._read_row_headers(cells)
            return
        columns = column_numbers([[(_span(cell, "colspan"), _span(cell, "rowspan")) for cell in row] for row in cells])
        over: dict[int, list[str]] = {}
        for cell, start in _with_columns(cells[:header_rows], columns):
            for column in range(start, start + _span(cell, "colspan")):
                over.setdefault(column, []).append(words(cell))
        named = set()
        for cell, column in _with_columns(cells[header_rows:], columns[header_rows:]):
            self.labels[id(cell)] = " ".join(filter(None, dict.fromkeys(over.get(column, []))))
            if words(cell):
                named.add(column)
        if all(column in named for column, labels in over.items() if any(labels)):
            self.headers.update(map(id, rows[:header_rows]))

    def _read_row_headers(self, cells: list[list[Tag]]) -> None:
        for first, *others in filter(None, cells):
            if first.name == "th" and others and all(cell.name == "td" for cell in others):
                self.headers.add(id(first))
                self.labels.update({id(cell): "" for cell in others})
                self.labels[id(others[0])] = words(first)


def words(cell: Tag) -> str:
    return " ".join(cell.get_text(" ").split())


def _with_columns(cells: list[list[Tag]], columns: list[list[int]]) -> list[tuple[Tag, int]]:
    return [placed for row, starts in zip(cells, columns, strict=False) for placed in zip(row, starts, strict=True)]


def _is_header(row: Tag, cells: list[Tag]) -> bool:
    in_head = row.parent is not None and row.parent.name == "thead"
    return len(cells) > 1 and (in_head or all(cell.name == "th" for cell in cells))


def _span(cell: Tag, attribute: str) -> int:
    value = str(cell.get(attribute, ""))
    return min(max(int(value), 1), _LARGEST_SPAN) if value.isascii() and value.isdigit() else 1
