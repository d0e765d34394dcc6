import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pdf_samples import assemble, encrypted, pdf_bytes, titled

from retrieval.errors import (
    EmptyDocument,
    FileRefused,
    NoTextFound,
    PageLoop,
    PasswordProtected,
    TooComplex,
    UnreadableFile,
)
from retrieval.parsing import parse

PICTURE = (
    "<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>\n"
    "stream\n0\nendstream"
)
FORM = (
    "<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X1 5 0 R >> /Font << /F1 6 0 R >> >> "
    "/Length 42 >>\nstream\nBODY\nendstream"
)
FONT = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"


def page_with(xobject: str, content: str) -> bytes:
    page = (
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
        "/Resources << /XObject << /X1 5 0 R >> /Font << /F1 6 0 R >> >> /Contents 4 0 R >>"
    )
    return assemble(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            page,
            f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
            xobject,
            FONT,
        ]
    )


LETTER = pdf_bytes("The bridge was built in 1932.", "", "It is 503 metres long.")


def test_each_page_is_a_span_of_the_text() -> None:
    parsed = parse(LETTER, "bridge.pdf")
    assert parsed.media_type == "application/pdf"
    assert [(page.number, parsed.text[page.start : page.end]) for page in parsed.pages] == [
        (1, "The bridge was built in 1932."),
        (2, ""),
        (3, "It is 503 metres long."),
    ]


def test_a_pdf_is_known_by_its_content_whatever_its_name() -> None:
    assert parse(b"\n" + LETTER, "bridge.txt").media_type == "application/pdf"


def test_the_title_is_the_metadatas_unless_a_program_made_it_up() -> None:
    assert parse(titled(LETTER, "Sydney Harbour Bridge"), "b.pdf").title == "Sydney Harbour Bridge"
    assert parse(titled(LETTER, "Microsoft Word - b.doc"), "b.pdf").title == "b"
    assert parse(LETTER, "b.pdf").title == "b"


def test_a_scan_has_no_text() -> None:
    with pytest.raises(NoTextFound, match="pictures") as raised:
        parse(page_with(PICTURE, "q 612 0 0 792 0 0 cm /X1 Do Q"), "scan.pdf")
    assert raised.value.code == "no_text_found"
    assert "scan" in raised.value.hint


def test_pages_with_nothing_on_them_are_an_empty_document() -> None:
    with pytest.raises(EmptyDocument):
        parse(pdf_bytes("", ""), "blank.pdf")


def test_a_password_is_refused_with_its_own_code() -> None:
    with pytest.raises(PasswordProtected) as raised:
        parse(encrypted(LETTER, "secret"), "locked.pdf")
    assert raised.value.code == "password_protected"


def test_an_empty_user_password_just_opens() -> None:
    assert parse(encrypted(LETTER, ""), "open.pdf").text == parse(LETTER, "open.pdf").text


def test_a_page_tree_that_loops_is_refused() -> None:
    looping = assemble(["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 999999999 >>"])
    with pytest.raises(PageLoop, match=r"loop\.pdf"):
        parse(looping, "loop.pdf")


def test_pages_that_contain_each_other_are_refused() -> None:
    looping = assemble(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 2 >>",
            "<< /Type /Pages /Kids [2 0 R] /Count 1 /Parent 2 0 R >>",
        ]
    )
    with pytest.raises(PageLoop):
        parse(looping, "loop.pdf")


def test_more_pages_than_a_document_may_have_are_too_complex() -> None:
    page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>"
    kids = " ".join(["3 0 R"] * 90_000)
    data = assemble(["<< /Type /Catalog /Pages 2 0 R >>", f"<< /Type /Pages /Kids [{kids} {kids}] >>", page])
    with pytest.raises(TooComplex):
        parse(data, "many.pdf")


def test_forms_that_contain_themselves_come_to_an_end() -> None:
    form = FORM.replace("BODY", "BT /F1 12 Tf (Once.) Tj ET /X1 Do /X1 Do")
    assert "Once." in parse(page_with(form, "/X1 Do"), "evil.pdf").text


@pytest.mark.parametrize("length", [9, 60, 300, len(LETTER) // 2])
def test_a_truncated_file_fails_with_a_reason(length: int) -> None:
    with pytest.raises((UnreadableFile, EmptyDocument)):
        parse(LETTER[:length], "half.pdf")


@settings(deadline=5000, max_examples=150)
@given(st.lists(st.tuples(st.integers(9, len(LETTER) - 1), st.integers(0, 255)), min_size=1, max_size=12))
def test_a_damaged_file_gives_text_or_a_reason(changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(LETTER)
    for position, value in changes:
        damaged[position] = value
    try:
        parsed = parse(bytes(damaged), "damaged.pdf")
    except FileRefused:
        return
    parsed.text.encode("utf-8")
