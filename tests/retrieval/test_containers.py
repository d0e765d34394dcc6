"""Archives and OLE files are known by what is inside, and never unpacked to more than a bounded size."""

import struct
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile

import pytest
from archive_samples import OLE_START, archive_bytes, sheet_bytes, slides_bytes, with_member, word_bytes

from retrieval.errors import ArchiveBomb, PasswordProtected, UnreadableFile, UnsupportedType
from retrieval.parsing import parse

OFFICE_TYPES = '<Types><Override ContentType="application/vnd.ms-excel.sheet.binary.macroEnabled.main"/></Types>'


@pytest.mark.parametrize(
    ("data", "kind"),
    [(word_bytes("x"), "word"), (slides_bytes("x"), "presentation"), (sheet_bytes(["x"]), "spreadsheet")],
)
@pytest.mark.parametrize("name", ["a.pdf", "a.txt", "a.docx", "a.zip", "a"])
def test_office_files_are_known_by_their_content_whatever_their_name(data: bytes, kind: str, name: str) -> None:
    assert kind in parse(data, name).media_type


@pytest.mark.parametrize(
    ("members", "hint"),
    [
        ({"notes.txt": "text"}, "Add what is in it"),
        ({"mimetype": "application/vnd.oasis.opendocument.text"}, "Save it as DOCX"),
        ({"[Content_Types].xml": OFFICE_TYPES}, "Save it as DOCX"),
    ],
)
def test_other_archives_are_refused_with_what_to_do(members: dict[str, str], hint: str) -> None:
    with pytest.raises(UnsupportedType, match="not read") as raised:
        parse(archive_bytes(members), "handbook.docx")
    assert hint in raised.value.hint


def ole(stream: str) -> bytes:
    return OLE_START + bytes(512) + stream.encode("utf-16-le") + bytes(64)


@pytest.mark.parametrize("stream", ["WordDocument", "Workbook", "PowerPoint Document", "__properties_version1.0", "?"])
def test_old_office_files_are_an_unsupported_type(stream: str) -> None:
    with pytest.raises(UnsupportedType) as raised:
        parse(ole(stream), "old.docx")
    assert "add that" in raised.value.hint


def test_an_encrypted_office_file_is_password_protected() -> None:
    with pytest.raises(PasswordProtected):
        parse(ole("EncryptedPackage"), "locked.docx")


def test_an_encrypted_archive_is_password_protected() -> None:
    data = bytearray(word_bytes("Text."))
    entry = data.find(b"PK\x01\x02")
    struct.pack_into("<H", data, entry + 8, 1)
    with pytest.raises(PasswordProtected):
        parse(bytes(data), "locked.docx")


def test_a_member_that_grows_two_hundred_times_is_a_bomb() -> None:
    bomb = with_member(word_bytes("Text."), "word/document.xml", b" " * 20_000_000)
    assert len(bomb) < 100_000
    with pytest.raises(ArchiveBomb, match=r"bomb\.docx unpacks to 20,"):
        parse(bomb, "bomb.docx")


def test_many_members_that_are_large_together_are_a_bomb() -> None:
    member = bytes(range(256)) * 16_000
    with pytest.raises(ArchiveBomb):
        parse(with_members(word_bytes("Text."), {f"word/media/{n}.bin": member for n in range(80)}), "bomb.docx")


def with_members(data: bytes, members: dict[str, bytes]) -> bytes:
    out = BytesIO(data)
    with ZipFile(out, "a", ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return out.getvalue()


def test_a_member_that_says_it_is_small_is_not_unpacked_beyond_that() -> None:
    data = bytearray(with_member(word_bytes("Text."), "word/media/a.bin", b" " * 3_000_000))
    entry = data.rfind(b"PK\x01\x02", 0, data.rfind(b"word/media/a.bin"))
    struct.pack_into("<I", data, entry + 24, 100)
    with pytest.raises(UnreadableFile, match=r"word/media/a\.bin"):
        parse(bytes(data), "liar.docx")


def test_an_archive_inside_is_not_opened() -> None:
    inner = archive_bytes({"a.bin": b" " * 50_000_000})
    assert parse(with_member(word_bytes("Text."), "word/embeddings/inner.zip", inner), "a.docx").text == "Text."


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize(
    ("data", "member"),
    [
        (word_bytes("x"), "word/document.xml"),
        (slides_bytes("x"), "ppt/slides/slide1.xml"),
        (sheet_bytes(["x"]), "xl/worksheets/sheet1.xml"),
    ],
)
def test_xml_entities_are_refused(data: bytes, member: str, encoding: str) -> None:
    levels = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 10))
    bomb = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE x [<!ENTITY e0 "ha">{levels}]><x>&e9;</x>'
    with pytest.raises(ArchiveBomb, match="entities"):
        parse(with_member(data, member, bomb.encode(encoding)), "bomb")


def test_a_damaged_member_is_named() -> None:
    data = bytearray(word_bytes("Text."))
    start = data.find(b"word/document.xml") + len("word/document.xml") + 20
    data[start : start + 40] = bytes(40)
    with pytest.raises(UnreadableFile, match=r"word/document\.xml"):
        parse(bytes(data), "damaged.docx")


@pytest.mark.parametrize("data", [b'<svg xmlns="x"><text>a</text></svg>', b'<?xml version="1.0"?>\n<!-- a --><svg/>'])
def test_a_drawing_is_refused(data: bytes) -> None:
    with pytest.raises(UnsupportedType, match="SVG"):
        parse(data, "drawing.txt")
