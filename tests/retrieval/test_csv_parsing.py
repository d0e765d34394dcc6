import pytest

from retrieval.errors import UnreadableFile
from retrieval.parsing import parse


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_rows_are_read_whatever_stands_between_values(delimiter: str, line_end: str) -> None:
    rows = [["Name", "Age", "Note"], ["Sato", "30", '"two\nlines"'], ["Ito", "", "x"]]
    data = line_end.join(delimiter.join(row) for row in rows)
    parsed = parse(data.encode(), "people.csv")
    assert parsed.text == "Name: Sato; Age: 30; Note: two lines\nName: Ito; Note: x"
    assert (parsed.media_type, parsed.title) == ("text/csv", "people")


def test_commas_in_quoted_values_do_not_part_them() -> None:
    assert parse(b'City,Where\n"Kobe","Hyogo, Kansai"\n', "a.csv").text == "City: Kobe; Where: Hyogo, Kansai"


def test_a_japanese_table_is_read_in_its_encoding() -> None:
    table = "名前,年齢\n佐藤太郎,30\n三木英子,25\n"
    for encoding in ("cp932", "euc_jp", "utf-8-sig", "utf-16"):
        assert parse(table.encode(encoding), "a.csv").text == "名前: 佐藤太郎; 年齢: 30\n名前: 三木英子; 年齢: 25"


def test_a_field_without_end_is_unreadable() -> None:
    with pytest.raises(UnreadableFile, match=r"open\.csv"):
        parse(b'a,"' + b"b,c\n" * 600_000, "open.csv")
