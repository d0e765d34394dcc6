import pytest
from archive_samples import member_of, saved, with_member, word_bytes
from docx import Document
from docx.enum.style import WD_STYLE_TYPE
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from retrieval.errors import EmptyDocument, UnreadableFile
from retrieval.parsing import ParsedDocument, parse

W = nsdecls("w")


def read(document) -> ParsedDocument:
    return parse(saved(document), "handbook.docx")


def test_headings_are_found_by_the_level_of_their_styles() -> None:
    document = Document()
    document.add_heading("Leave", 1)
    document.add_paragraph("Twenty-five days.")
    document.add_heading("Parental leave", 2)
    document.add_paragraph("Sixteen weeks.")
    parsed = read(document)
    assert parsed.text == "Leave\n\nTwenty-five days.\n\nParental leave\n\nSixteen weeks."
    assert [(heading.level, heading.text) for heading in parsed.headings] == [(1, "Leave"), (2, "Parental leave")]
    for heading in parsed.headings:
        assert parsed.text.startswith(heading.text, heading.start)
    assert (parsed.title, parsed.pages) == ("Leave", ())


def test_a_style_based_on_a_heading_is_one() -> None:
    document = Document()
    style = document.styles.add_style("Kapitel", WD_STYLE_TYPE.PARAGRAPH)
    style.base_style = document.styles["Heading 2"]
    document.add_paragraph("Reisen", style="Kapitel")
    assert [(heading.level, heading.text) for heading in read(document).headings] == [(2, "Reisen")]


def test_the_title_is_the_files_own_then_its_title_paragraph() -> None:
    document = Document()
    document.add_paragraph("Handbook", style="Title")
    assert read(document).title == "Handbook"
    document.core_properties.title = "Staff handbook"
    assert read(document).title == "Staff handbook"


def test_a_table_says_each_rows_values_with_their_headers() -> None:
    document = Document()
    document.add_paragraph("Before")
    table = document.add_table(3, 3)
    for row, cells in zip(table.rows, [["Grade", "Days", "Note"], ["1", "20", ""], ["2", "21", "a\nb"]], strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    assert read(document).text == "Before\n\nGrade: 1; Days: 20\nGrade: 2; Days: 21; Note: a b"


def test_merged_cells_are_said_once_and_ragged_rows_do_no_harm() -> None:
    document = Document()
    table = document.add_table(3, 2)
    for row, cells in zip(table.rows, [["Region", "City"], ["Kanto", "Tokyo"], ["", "Chiba"]], strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    ragged = table.add_row()
    ragged._tr.remove(ragged.cells[1]._tc)
    ragged.cells[0].text = "Kansai"
    assert read(document).text == "Region: Kanto; City: Tokyo\nCity: Chiba\nRegion: Kansai"


def test_content_controls_are_read_and_deletions_are_not() -> None:
    document = Document()
    body = document.element.body
    body.insert(
        0,
        parse_xml(f"<w:sdt {W}><w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p></w:sdtContent></w:sdt>"),
    )
    body.insert(
        1,
        parse_xml(
            f"<w:p {W}><w:del><w:r><w:delText>gone</w:delText><w:t>gone</w:t></w:r></w:del>"
            f"<w:ins><w:r><w:t>new</w:t><w:tab/><w:t>text</w:t></w:r></w:ins></w:p>"
        ),
    )
    assert read(document).text == "In a control.\n\nnew\ttext"


def test_list_items_are_lines_and_text_boxes_are_read_once() -> None:
    document = Document()
    for item in ("Ask early.", "Ask twice."):
        document.add_paragraph(item, style="List Bullet")
    box = "<w:txbxContent><w:p><w:r><w:t>Boxed.</w:t></w:r></w:p></w:txbxContent>"
    alternatives = "http://schemas.openxmlformats.org/markup-compatibility/2006"
    document.add_paragraph("Beside the box.")._p.append(
        parse_xml(
            f'<w:r {W} xmlns:mc="{alternatives}"><mc:AlternateContent><mc:Choice>{box}</mc:Choice>'
            f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>"
        )
    )
    assert read(document).text == "Ask early.\nAsk twice.\n\nBeside the box.\n\nBoxed."


def test_footnotes_stand_at_the_end() -> None:
    notes = f"<w:footnotes {W}><w:footnote><w:p><w:r><w:t>Since 1932.</w:t></w:r></w:p></w:footnote></w:footnotes>"
    data = word_bytes("The bridge.")
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    override = f'<Override PartName="/word/footnotes.xml" ContentType="{kind}"/>'
    relation = f'<Relationship Id="rId99" Type="{RELATIONSHIP_TYPE.FOOTNOTES}" Target="footnotes.xml"/>'
    for part, end, more in (
        ("[Content_Types].xml", "</Types>", override),
        ("word/_rels/document.xml.rels", "</Relationships>", relation),
    ):
        data = with_member(data, part, member_of(data, part).decode().replace(end, more + end))
    assert parse(with_member(data, "word/footnotes.xml", notes), "a.docx").text == "The bridge.\n\nSince 1932."


def test_a_document_with_macros_is_read() -> None:
    data = word_bytes("Text.")
    types = (
        member_of(data, "[Content_Types].xml")
        .decode()
        .replace(
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml",
            "application/vnd.ms-word.document.macroEnabled.main+xml",
        )
    )
    assert parse(with_member(data, "[Content_Types].xml", types), "a.docm").text == "Text."


def test_a_blank_document_is_empty() -> None:
    with pytest.raises(EmptyDocument, match=r"blank\.docx"):
        parse(word_bytes(), "blank.docx")


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_truncated_document_is_unreadable(share: float) -> None:
    data = word_bytes("Text.")
    with pytest.raises(UnreadableFile, match=r"half\.docx"):
        parse(data[: int(len(data) * share)], "half.docx")


def test_a_document_with_broken_xml_is_unreadable() -> None:
    with pytest.raises(UnreadableFile):
        parse(with_member(word_bytes("Text."), "word/document.xml", "<w:document"), "broken.docx")
