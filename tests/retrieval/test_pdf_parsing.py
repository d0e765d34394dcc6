import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pdf_samples import assemble, encrypted, pdf_bytes, titled

from retrieval.errors import NoTextFound, PasswordProtected, UnreadableFile
from retrieval.parsing import parse

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
    with pytest.raises(NoTextFound) as raised:
        parse(pdf_bytes("", ""), "scan.pdf")
    assert raised.value.code == "no_text_found"
    assert "scan" in raised.value.hint


def test_a_password_is_refused_with_its_own_code() -> None:
    with pytest.raises(PasswordProtected) as raised:
        parse(encrypted(LETTER, "secret"), "locked.pdf")
    assert raised.value.code == "password_protected"


def test_an_empty_user_password_just_opens() -> None:
    assert parse(encrypted(LETTER, ""), "open.pdf").text == parse(LETTER, "open.pdf").text


def test_a_page_tree_that_loops_is_unreadable() -> None:
    looping = assemble(["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 999999999 >>"])
    with pytest.raises(UnreadableFile, match=r"loop\.pdf"):
        parse(looping, "loop.pdf")


@pytest.mark.parametrize("length", [9, 60, 300, len(LETTER) // 2])
def test_a_truncated_file_fails_with_a_reason(length: int) -> None:
    with pytest.raises((UnreadableFile, NoTextFound)):
        parse(LETTER[:length], "half.pdf")


@settings(deadline=5000, max_examples=150)
@given(st.lists(st.tuples(st.integers(9, len(LETTER) - 1), st.integers(0, 255)), min_size=1, max_size=12))
def test_a_damaged_file_gives_text_or_a_reason(changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(LETTER)
    for position, value in changes:
        damaged[position] = value
    try:
        parsed = parse(bytes(damaged), "damaged.pdf")
    except (UnreadableFile, NoTextFound, PasswordProtected):
        return
    parsed.text.encode("utf-8")
