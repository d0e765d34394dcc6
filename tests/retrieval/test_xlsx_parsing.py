from datetime import date, datetime, time

import pytest
from archive_samples import saved, sheet_bytes
from openpyxl import Workbook

from retrieval.errors import EmptyDocument
from retrieval.parsing import parse
from retrieval.parsing.cell_text import cell_text

DAY = date(2024, 3, 5)


def test_each_sheet_is_a_page_and_each_row_a_line_in_words() -> None:
    workbook = Workbook()
    leave = workbook.active
    leave.title = "Leave"
    for row in [["Grade", "Days", "From"], [1, 20, date(2024, 4, 1)], [2, None, date(2024, 5, 1)], [], ["A note."]]:
        leave.append(row)
    workbook.create_sheet("Empty")
    workbook.create_sheet("Travel").append(["Rail is free."])
    parsed = parse(saved(workbook), "rules.xlsx")
    assert [(page.number, parsed.text[page.start : page.end]) for page in parsed.pages] == [
        (1, "Leave\n\nGrade: 1; Days: 20; From: 2024-04-01\nGrade: 2; From: 2024-05-01\n\nA note."),
        (2, ""),
        (3, "Travel\n\nRail is free."),
    ]
    assert [parsed.text[heading.start :].split("\n")[0] for heading in parsed.headings] == ["Leave", "Travel"]


def test_merged_cells_are_said_once_and_hidden_sheets_are_not_read() -> None:
    workbook = Workbook()
    sheet = workbook.active
    sheet.append(["Plan 2024", None])
    sheet.append(["Task", "Owner"])
    sheet.append(["Paint", "Sato"])
    sheet.append(["Clean", None])
    sheet.merge_cells("A1:B1")
    sheet.merge_cells("B3:B4")
    secret = workbook.create_sheet("Lists")
    secret.append(["internal"])
    secret.sheet_state = "hidden"
    assert parse(saved(workbook), "plan.xlsx").text == "Sheet\n\nPlan 2024\nTask: Paint; Owner: Sato\nTask: Clean"


@pytest.mark.parametrize(
    ("value", "number_format", "shown"),
    [
        (None, "General", ""),
        (True, "General", "TRUE"),
        (3.0, "General", "3"),
        (0.1 + 0.2, "General", "0.3"),
        (1234.5, "#,##0.00", "1,234.50"),
        (-1234.5, '"$"#,##0.00_);[Red]("$"#,##0.00)', "-$1,234.50"),
        (1250, "#,##0 [$€-407]", "1,250 €"),
        (0.125, "0.0%", "12.5%"),
        (42, "00000", "00042"),
        (2.5, "0.##", "2.5"),
        (1.5e10, "0.00E+00", "15000000000"),
        (datetime.combine(DAY, time()), "yyyy-mm-dd", "2024-03-05"),
        (datetime.combine(DAY, time(9, 30)), "yyyy-mm-dd hh:mm", "2024-03-05 09:30:00"),
        (time(9, 30), "hh:mm", "09:30:00"),
        ("#N/A", "General", ""),
        ("text", "@", "text"),
    ],
)
def test_values_are_shown_as_people_see_them(value: object, number_format: str, shown: str) -> None:
    assert cell_text(value, number_format) == shown


def test_nothing_is_called_nan_or_none() -> None:
    text = parse(sheet_bytes(["Name", "Age"], ["Sato", None], [None, 31]), "people.xlsx").text
    assert text == "Sheet\n\nName: Sato\nAge: 31"


def test_an_empty_workbook_is_an_empty_document() -> None:
    with pytest.raises(EmptyDocument):
        parse(sheet_bytes(), "empty.xlsx")
