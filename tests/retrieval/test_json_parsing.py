import pytest

from retrieval.errors import EmptyDocument, TooComplex, UnreadableFile
from retrieval.parsing import parse

ORDERS = """{"title": "Orders", "open": true, "note": null, "rate": 1.10, "tags": ["a", 2, null],
 "orders": [{"city": "Kobe", "sum": 12}, {"city": "Ube", "sum": NaN}],
 "shop": {"name": "Main", "owner": {"name": "Sato"}}}"""


def test_values_stand_with_their_names_under_the_path_that_leads_to_them() -> None:
    parsed = parse(ORDERS.encode(), "orders.json")
    assert parsed.text == (
        "title: Orders\nopen: true\nrate: 1.10\ntags: a, 2\n\norders\ncity: Kobe; sum: 12\ncity: Ube\n\n"
        "shop\n\nname: Main\n\nshop › owner\n\nname: Sato"  # noqa: RUF001
    )
    assert [(heading.level, heading.text) for heading in parsed.headings] == [
        (1, "orders"), (1, "shop"), (2, "shop › owner"),  # noqa: RUF001
    ]  # fmt: skip
    assert all(parsed.text.startswith(heading.text, heading.start) for heading in parsed.headings)
    assert (parsed.title, parsed.media_type) == ("Orders", "application/json")


def test_one_value_a_line_is_read_too() -> None:
    assert parse(b'{"a": 1, "b": "x"}\n{"a": 2}\n', "log.jsonl").text == "a: 1; b: x\na: 2"


def test_json_is_known_by_its_content_where_the_name_says_nothing() -> None:
    assert parse(b'{"a": 1}', "settings").media_type == "application/json"
    assert parse(b"{not json}", "settings").media_type == "text/plain"
    assert parse(b'{"a": 1}', "notes.txt").media_type == "text/plain"


def test_a_number_of_any_length_stays_as_it_is_written() -> None:
    assert parse(b'{"n": ' + b"9" * 5000 + b"}", "n.json").text == "n: " + "9" * 5000


def test_broken_json_is_unreadable_and_says_where() -> None:
    with pytest.raises(UnreadableFile, match="line 2"):
        parse(b'{"a":\n oops}', "broken.json")


def test_json_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(TooComplex, match=r"deep\.json"):
        parse(b"[" * 100_000 + b"]" * 100_000, "deep.json")


@pytest.mark.parametrize("data", [b"{}", b"[]", b"null", b'{"a": null}'])
def test_json_without_values_is_empty(data: bytes) -> None:
    with pytest.raises(EmptyDocument):
        parse(data, "empty.json")
