import pytest
from archive_samples import saved, slides_bytes
from pptx import Presentation
from pptx.util import Inches

from retrieval.errors import EmptyDocument
from retrieval.parsing import parse

BOX = (Inches(1), Inches(2), Inches(6), Inches(2))


def test_each_slide_is_a_page_under_its_title() -> None:
    presentation = Presentation()
    first = presentation.slides.add_slide(presentation.slide_layouts[1])
    first.shapes.title.text = "Leave"
    first.placeholders[1].text = "Twenty-five days.\nAsk early."
    first.notes_slide.notes_text_frame.text = "Say it twice."
    presentation.slides.add_slide(presentation.slide_layouts[6])
    third = presentation.slides.add_slide(presentation.slide_layouts[6])
    third.shapes.add_textbox(*BOX).text_frame.text = "The end."
    parsed = parse(saved(presentation), "talk.pptx")
    assert [(page.number, parsed.text[page.start : page.end]) for page in parsed.pages] == [
        (1, "Leave\n\nTwenty-five days.\nAsk early.\n\nNotes: Say it twice."),
        (2, ""),
        (3, "The end."),
    ]
    assert [(heading.start, heading.text) for heading in parsed.headings] == [(0, "Leave")]
    assert parsed.title == "Leave"


def test_tables_and_groups_are_read_and_hidden_slides_are_not() -> None:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[6])
    table = slide.shapes.add_table(2, 2, *BOX).table
    for row, cells in zip(table.rows, [["Grade", "Days"], ["1", "20"]], strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    group = slide.shapes.add_group_shape()
    group.shapes.add_textbox(*BOX).text_frame.text = "Grouped."
    hidden = presentation.slides.add_slide(presentation.slide_layouts[5])
    hidden.shapes.title.text = "Draft"
    hidden.element.set("show", "0")
    parsed = parse(saved(presentation), "talk.pptx")
    assert parsed.text == "Grade: 1; Days: 20\n\nGrouped."
    assert [page.number for page in parsed.pages] == [1, 2]


def test_slides_without_text_are_an_empty_document() -> None:
    with pytest.raises(EmptyDocument):
        parse(slides_bytes(""), "pictures.pptx")
