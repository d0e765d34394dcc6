from email.message import EmailMessage

import pytest

from retrieval.errors import PasswordProtected
from retrieval.parsing import ParsedDocument, parse


def message(text: str = "", html: str = "", charset: str = "utf-8") -> EmailMessage:
    mail = EmailMessage()
    mail["From"] = "Sato Taro <sato@example.com>"
    mail["To"] = "all@example.com"
    mail["Date"] = "Mon, 01 Apr 2024 09:00:00 +0900"
    mail["Subject"] = "Rücksprache: 旅費の申請"
    if text:
        mail.set_content(text, charset=charset)
    if html:
        mail.add_alternative(html, subtype="html")
    return mail


def read(mail: EmailMessage, name: str = "note.eml") -> ParsedDocument:
    return parse(mail.as_bytes(), name)


HEAD = (
    "Rücksprache: 旅費の申請\n\n"
    "From: Sato Taro <sato@example.com>\nTo: all@example.com\nDate: Mon, 01 Apr 2024 09:00:00 +0900\n\n"
)


def test_fields_and_the_text_part_are_read() -> None:
    parsed = read(message("Please ask early.\n", "<p>Please <b>ask</b> early.</p>"))
    assert parsed.text == HEAD + "Please ask early."
    assert (parsed.title, parsed.media_type) == ("Rücksprache: 旅費の申請", "message/rfc822")
    assert [(heading.start, heading.level) for heading in parsed.headings] == [(0, 1)]


def test_without_a_text_part_the_html_part_is_read_with_its_headings() -> None:
    parsed = read(message(html="<h2>Rules</h2><p>Ask early.</p>"))
    assert parsed.text == HEAD + "Rules\n\nAsk early."
    assert parsed.text.startswith("Rules", parsed.headings[1].start)


@pytest.mark.parametrize("charset", ["iso-2022-jp", "shift_jis", "euc-jp", "utf-8"])
def test_the_charset_of_the_message_is_used(charset: str) -> None:
    assert "休暇の申請" in read(message("休暇の申請はお早めに。\n", charset=charset)).text


def test_attachments_are_named_and_not_read() -> None:
    mail = message("See the file.\n")
    mail.add_attachment(b"secret words", maintype="application", subtype="pdf", filename="表.pdf")
    forwarded = EmailMessage()
    forwarded["Subject"] = "Earlier"
    forwarded.set_content("old words")
    mail.add_attachment(forwarded)
    text = read(mail).text
    assert text.endswith("See the file.\n\nAttachments (not read): 表.pdf, Earlier")
    assert "words" not in text


def test_a_message_is_known_by_its_fields_unless_its_name_is_that_of_another_text() -> None:
    data = message("Text.\n").as_bytes()
    assert parse(data, "message").media_type == "message/rfc822"
    assert parse(data, "message.txt").media_type == "text/plain"
    assert parse(b"Dear all: no fields.", "note.eml").media_type == "text/plain"


def test_fields_in_bytes_of_no_standard_are_decoded() -> None:
    data = "From: 佐藤太郎\nTo: all\nDate: x\nSubject: 旅費の申請について\n\ntext\n".encode("cp932")
    assert parse(data, "old.eml").title == "旅費の申請について"


def test_an_encrypted_message_is_refused() -> None:
    mail = message()
    mail["Content-Type"] = "application/pkcs7-mime; smime-type=enveloped-data"
    with pytest.raises(PasswordProtected):
        read(mail)
