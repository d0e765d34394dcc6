import pytest

from retrieval.parsing import parse


def text_of(body: str) -> str:
    return parse(f"<!doctype html><html><body>{body}</body></html>".encode(), "page").text


def test_only_what_a_reader_sees_is_text() -> None:
    body = """
      <script>alert("x")</script><style>p {color: red}</style><!-- comment --><template>later</template>
      <noscript>no script</noscript><iframe srcdoc="<p>framed</p>">old</iframe><svg><text>drawn</text></svg>
      <p hidden>hidden</p><p style="display: none">styled away</p>
      <p>Seen <b>words</b>.</p>
    """
    assert text_of(body) == "Seen words."


def test_blocks_become_paragraphs_and_cells_stay_in_a_row() -> None:
    body = "<p>One\n  two</p><ul><li>first</li><li>second</li></ul>a<br>b<table><tr><td>1</td><td>2</td></tr></table>"
    assert text_of(body) == "One two\n\nfirst\nsecond\n\na\nb\n\n1\t2"


def test_preformatted_text_keeps_its_lines() -> None:
    assert text_of("<pre>a\n  b</pre>") == "a\n  b"


def test_entities_are_characters_and_markup_in_them_stays_text() -> None:
    assert text_of("<p>&lt;script&gt; &amp; caf&eacute;</p>") == "<script> & café"


def test_headings_point_at_their_text() -> None:
    parsed = parse(b"<html><body><h1>A <i>title</i></h1><p>x</p><h3>\n More\n</h3><h4></h4></body></html>", "p.html")
    assert [(heading.level, heading.text) for heading in parsed.headings] == [(1, "A title"), (3, "More")]
    assert [parsed.text[heading.start :][:4] for heading in parsed.headings] == ["A ti", "More"]


def test_the_title_is_the_pages_then_its_first_heading() -> None:
    assert parse(b"<html><head><title> Our\n page </title></head><body><h1>H</h1></body>", "p.html").title == "Our page"
    assert parse(b"<html><body><h1>H</h1></body>", "p.html").title == "H"
    assert parse(b"<html><body>text</body>", "p.html").title == "p"


@pytest.mark.parametrize(
    ("declared", "encoding"),
    [
        ("Shift_JIS", "cp932"),
        ("EUC-JP", "euc_jp"),
        ("utf-8", "utf-8"),
        ("iso-2022-jp", "iso2022_jp"),
        ("big5", "utf-8"),
        ("Shift_JIS", "euc_jp"),
        ("iso-8859-1", "euc_jp"),
        ("iso-8859-1", "cp932"),
        ("utf-8", "cp932"),
    ],
)
def test_the_declared_encoding_is_used_unless_the_bytes_say_otherwise(declared: str, encoding: str) -> None:
    page = f'<html><head><meta charset="{declared}"></head><body><p>旅費の申請について</p></body></html>'
    assert parse(page.encode(encoding), "page.html").text == "旅費の申請について"


def test_a_page_with_an_xml_declaration_is_read() -> None:
    page = '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE html><html><body><p>Grüße</p></body></html>'
    assert parse(page.encode("utf-16"), "page").text == "Grüße"


def test_deeply_nested_pages_are_read() -> None:
    assert text_of("<div>" * 20_000 + "deep") == "deep"


def test_rows_under_a_header_are_said_in_words() -> None:
    body = """
      <table><caption>Leave</caption>
      <thead><tr><th rowspan=2>Grade</th><th colspan=2>Days</th></tr><tr><th>2023</th><th>2024</th></tr></thead>
      <tr><td><p>1</p></td><td>20</td><td>21</td></tr>
      <tr><td rowspan="2">2</td><td></td><td>22<br>(new)</td></tr><tr><td>23</td></tr></table>
    """
    assert text_of(body) == (
        "Leave\nGrade: 1; Days 2023: 20; Days 2024: 21\nGrade: 2; Days 2024: 22 (new)\nDays 2023: 23"
    )


def test_header_cells_name_what_stands_beside_them() -> None:
    rows = "<tr><th colspan=2>The bridge</th></tr><tr><th>Built:</th><td>1932</td></tr><tr><th>City</th><td></td></tr>"
    assert text_of(f"<table>{rows}</table>") == "The bridge\nBuilt: 1932"


def test_a_header_alone_and_a_table_for_layout_are_read_as_they_are() -> None:
    assert text_of("<table><tr><th>A</th><th>B</th></tr></table>") == "A\tB"
    layout = "<table><tr><th>A</th><th>B</th></tr><tr><td><table><tr><td>1</td></tr></table></td></tr></table>"
    assert "A\tB" in text_of(layout)
