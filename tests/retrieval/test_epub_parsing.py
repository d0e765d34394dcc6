import pytest
from archive_samples import archive_bytes, epub_bytes

from retrieval.errors import ArchiveBomb, EmptyDocument, PasswordProtected, UnreadableFile
from retrieval.parsing import parse

ENCRYPTION = '<encryption><EncryptedData><EncryptionMethod Algorithm="{}"/></EncryptedData></encryption>'
FONTS = "http://www.idpf.org/2008/embedding"


def test_chapters_are_read_in_order_with_their_headings() -> None:
    book = epub_bytes({"b/two.xhtml": "<h1>Two</h1><p>Second.</p>", "one 1.xhtml": "<h1>One</h1>"}, "The book")
    parsed = parse(book, "book")
    assert parsed.text == "Two\n\nSecond.\n\nOne"
    assert (parsed.title, parsed.media_type) == ("The book", "application/epub+zip")
    assert [(heading.start, heading.text) for heading in parsed.headings] == [(0, "Two"), (14, "One")]


def test_copy_protection_is_refused_and_hidden_fonts_are_not() -> None:
    chapters = {"one.xhtml": "<p>Text.</p>"}
    hidden_fonts = epub_bytes(chapters, **{"META-INF/encryption.xml": ENCRYPTION.format(FONTS)})
    assert parse(hidden_fonts, "b.epub").text == "Text."
    with pytest.raises(PasswordProtected, match="copy-protected"):
        parse(epub_bytes(chapters, **{"META-INF/encryption.xml": ENCRYPTION.format("aes256-cbc")}), "b.epub")


def test_a_book_without_its_package_is_unreadable() -> None:
    with pytest.raises(UnreadableFile):
        parse(archive_bytes({"mimetype": "application/epub+zip"}), "book.epub")


def test_a_book_of_pictures_is_empty() -> None:
    with pytest.raises(EmptyDocument):
        parse(epub_bytes({"one.xhtml": "<img src='a.png'/>"}), "book.epub")


def test_entities_that_could_grow_are_refused() -> None:
    bomb = '<!DOCTYPE package [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><package>&b;</package>'
    with pytest.raises(ArchiveBomb, match="entities"):
        parse(epub_bytes({"one.xhtml": "<p>x</p>"}, **{"OPS/book.opf": bomb}), "book.epub")
