"""Text files arrive in every encoding: they are decoded right, or refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.errors import EmptyDocument, FileRefused, UndecodableText, UnknownType, UnreadableFile, UnsupportedType
from retrieval.parsing import parse

# The letters of many scripts look alike.
# ruff: noqa: RUF001

JAPANESE = "社内規程について。\n休暇の申請はお早めにお願いします。資料①をご覧ください。"
RUSSIAN = "Документ описывает порядок работы отдела.\nВопросы можно задать в любое время."
GREEK = "Το έγγραφο περιγράφει τη διαδικασία. Οι ερωτήσεις είναι ευπρόσδεκτες."
FRENCH = "L’été à la plage — ça va très bien, où êtes-vous né ?"
CZECH = "Příliš žluťoučký kůň úpěl ďábelské ódy, řekl soused a odešel."
CHINESE = "这是一个关于公司的文件，请你在开会之前阅读。"
TAIWANESE = "這是一個關於公司的文件，請你在開會之前閱讀。"
KOREAN = "이 문서는 회사의 휴가 규정에 대한 것입니다. 질문이 있으면 알려 주십시오."

ENCODED = [
    *((text, "utf-8") for text in (JAPANESE, RUSSIAN, FRENCH, KOREAN)),
    *((JAPANESE, encoding) for encoding in ("utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "cp932")),
    ("これは例です。", "utf-16-le"),
    ("これは例です。", "utf-16-be"),
    ("plain English", "utf-16-le"),
    (RUSSIAN, "utf-16-be"),
    (CHINESE + "\n", "utf-16-le"),
    (JAPANESE.replace("①", ""), "euc_jp"),
    (JAPANESE.replace("①", ""), "iso2022_jp"),
    ("名前,年齢,住所\n佐藤太郎,30,東京\n三木英子,25,大阪", "cp932"),
    (RUSSIAN, "cp1251"),
    (RUSSIAN, "koi8_r"),
    (GREEK, "cp1253"),
    (FRENCH, "cp1252"),
    ("Größe und Gewicht", "latin-1"),
    ("it’s “fine” – really…", "cp1252"),
    (CZECH, "cp1250"),
    ("Dziękuję, jest późno i źle, kończę już.", "cp1250"),
    (CHINESE, "gb18030"),
    (TAIWANESE, "big5"),
    (KOREAN, "euc_kr"),
]


@pytest.mark.parametrize(("text", "encoding"), ENCODED)
def test_the_searched_text_equals_the_original_in_every_encoding(text: str, encoding: str) -> None:
    assert parse(text.encode(encoding), "notes.txt").text == text


SNIPPETS = {
    ("cp932", "euc_jp"): ["休暇の申請", "これは例", "東京都", "ﾃｽﾄ カナ"],
    ("cp1251", "koi8_r", "cp866"): ["Вопросы", "Ответы и вопросы"],
    ("cp1252", "cp850"): ["née à Nîmes", "Größe", "¿Qué?", "5 £", "blåbær", "très bien"],
    ("cp1250", "iso8859_2"): ["Kočka leží", "późno", "őrült", "če"],
    ("cp1253",): ["ώρα", "Καλημέρα"],
    ("cp1254", "cp1257", "cp1258"): ["İstanbul’da güneş", "šį žodį", "việt"],
    ("cp1255", "cp1256", "cp874"): ["שלום", "مرحبا", "สวัสดี"],
    ("gb18030",): ["请阅读", "文件。"],
    ("big5",): ["請閱讀", "文件。"],
    ("euc_kr",): ["휴가", "안녕하세요"],
}


def can_encode(text: str, encoding: str) -> bool:
    try:
        return text.encode(encoding).decode(encoding) == text
    except UnicodeEncodeError:
        return False


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (text, encoding)
        for encodings, texts in SNIPPETS.items()
        for text in texts
        for encoding in encodings
        if can_encode(text, encoding)
    ],
)
def test_a_short_text_is_decoded_right_or_refused(text: str, encoding: str) -> None:
    try:
        decoded = parse(text.encode(encoding), "notes.txt").text
    except UndecodableText:
        return
    assert decoded == text


@given(st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), min_size=1))
def test_utf8_text_survives_but_for_line_ends_and_control_characters(text: str) -> None:
    try:
        parsed = parse(text.encode(), "notes.txt")
    except FileRefused:
        return
    visible = [character for character in text if character.isprintable() and not character.isspace()]
    assert [c for c in parsed.text if c.isprintable() and not c.isspace()] == visible


def test_line_ends_become_newlines() -> None:
    assert parse(b"one\r\ntwo\rthree\n", "a.txt").text == "one\ntwo\nthree\n"


@pytest.mark.parametrize("name", ["random.txt", "random.bin", "random.md", "random.html", "random.pdf", "random.eml"])
def test_noise_is_of_an_unknown_type_whatever_its_name(name: str) -> None:
    data = bytes((i * i * 31 + i * 17 + (i >> 3)) % 256 for i in range(1, 2048))
    with pytest.raises(UnknownType, match="random") as raised:
        parse(data, name)
    assert "Markdown" in raised.value.hint


def test_controls_in_ascii_are_noise_too() -> None:
    with pytest.raises(UnknownType):
        parse(b"\x01\x02\x03abc\x04\x05" * 20, "data.txt")


def test_text_that_was_spoiled_before_is_refused() -> None:
    with pytest.raises(UndecodableText):
        parse(("\ufffd" * 3 + "e text ").encode() * 5, "spoiled.txt")


def test_utf8_that_is_cut_off_within_a_character_is_not_guessed_at() -> None:
    with pytest.raises(UndecodableText):
        parse(JAPANESE.encode()[:-5], "cut.txt")


@pytest.mark.parametrize("data", [b"", b" \n\t ", "\ufeff\u200b".encode(), "   ".encode("utf-16")])
def test_a_file_of_blanks_is_empty(data: bytes) -> None:
    with pytest.raises(EmptyDocument, match=r"empty\.txt") as raised:
        parse(data, "empty.txt")
    assert raised.value.code == "empty_document"


@pytest.mark.parametrize("data", [b"\x89PNG\r\n", b"{\\rtf1 text}", b"\x1f\x8b\x08\x00", b"Rar!\x1a\x07"])
def test_other_kinds_of_file_are_refused_by_their_content(data: bytes) -> None:
    with pytest.raises(UnsupportedType) as raised:
        parse(data, "handbook.txt")
    assert "Markdown" in raised.value.hint


def test_an_archive_that_is_cut_off_is_unreadable() -> None:
    with pytest.raises(UnreadableFile):
        parse(b"PK\x03\x04....", "handbook.docx")


def test_a_name_does_not_make_text_something_else() -> None:
    assert parse(b"just some text", "report.pdf").text == "just some text"
    assert parse(b"<!doctype html><p>page</p>", "report.md").media_type == "text/html"
    assert parse(b"The header `%PDF-1.4` opens a file.", "formats.md").media_type == "text/markdown"


@pytest.mark.parametrize("name", ["テスト 資料①.txt", "re\u0301sume\u0301.txt", "🎉.txt", "a" * 251 + ".txt"])
def test_the_title_of_a_text_is_its_name_without_the_suffix(name: str) -> None:
    assert parse(b"text", name).title == name.removesuffix(".txt")
