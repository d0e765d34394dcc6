import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.parsing.table_words import column_numbers, table_lines

CELLS = st.text("ab1 \n:", max_size=4)


def test_each_value_is_named_by_its_header() -> None:
    rows = [["Name", "Age:", ""], ["Sato", "30", "x"], ["Ito", "", ""], ["", "", ""], ["Mori", "31", "y", "z"]]
    assert table_lines(rows) == ["Name: Sato; Age: 30; x", "Name: Ito", "Name: Mori; Age: 31; y; z"]


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        ([["Tokyo", "30"], ["Osaka", "25"]], ["Tokyo; 30", "Osaka; 25"]),
        ([["Region", "2023", "2024"], ["Kanto", "1", "2"]], ["Region: Kanto; 2023: 1; 2024: 2"]),
        ([["Plan"], ["Task", "Owner"], ["Paint", "Sato"]], ["Plan", "Task: Paint; Owner: Sato"]),
        ([["one"], ["two"]], ["one", "two"]),
        ([["a", "a"], ["b", "c"]], ["a; a", "b; c"]),
        ([["Name", "Age"]], ["Name; Age"]),
        ([["", ""]], []),
        ([], []),
    ],
)
def test_a_header_is_taken_for_one_only_where_it_looks_like_one(rows: list[list[str]], lines: list[str]) -> None:
    assert table_lines(rows) == lines


def test_a_header_of_two_rows_names_by_both() -> None:
    rows = [["", "Sales", ""], ["City", "2023", "2024"], ["Tokyo", "1", "2"]]
    assert table_lines(rows, 2) == ["City: Tokyo; Sales 2023: 1; 2024: 2"]


@given(st.lists(st.lists(CELLS, max_size=4), max_size=5), st.one_of(st.none(), st.integers(0, 3)))
def test_no_value_is_lost_and_a_row_is_a_line(rows: list[list[str]], header_rows: int | None) -> None:
    lines = table_lines(rows, header_rows)
    assert all(line and "\n" not in line for line in lines)
    if header_rows is None:
        assert {word for row in rows for cell in row for word in cell.replace(":", " ").split()} == {
            word for line in lines for word in line.replace(":", " ").replace(";", " ").split()
        }


def test_columns_are_counted_around_merged_cells() -> None:
    assert column_numbers([[(1, 2), (2, 1), (1, 1)], [(1, 1), (1, 1)], [(1, 1)]]) == [[0, 1, 3], [1, 2], [0]]
