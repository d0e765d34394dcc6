"""E-mail: who wrote to whom, when and about what, the message itself, and the names of what is attached."""

import re
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

from retrieval.errors import PasswordProtected
from retrieval.parsing.archive import damage_reported
from retrieval.parsing.decoding import decode
from retrieval.parsing.document import ParsedDocument, clean_title, has_text
from retrieval.parsing.html import parse_html
from retrieval.parsing.manuscript import Manuscript
from retrieval.parsing.media_type import MediaType
from retrieval.parsing.plain import parse_plain

_HEAD_END = re.compile(rb"(\r?\n\r?\n)")
_SHOWN = ("From", "To", "Cc", "Date")
_ENCRYPTED = {"multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime"}


def parse_mail(data: bytes, name: str) -> ParsedDocument:
    """The text part, or the HTML part where there is none. Attachments are named but not read.

    Raises: PasswordProtected, UndecodableText, UnreadableFile.
    """
    manuscript = Manuscript()
    with damage_reported(name):
        message = _message(data, name)
        if message.get_content_type() in _ENCRYPTED:
            raise PasswordProtected(f"{name} is encrypted.", "Save the message decrypted and add that.")
        subject = _field(message, "Subject")
        manuscript.heading(subject, 1)
        manuscript.lines([f"{field}: {value}" for field in _SHOWN if (value := _field(message, field))])
        manuscript.include(_body(message, name))
        if attached := [_attachment_name(part) for part in message.iter_attachments()]:
            manuscript.paragraph(f"Attachments (not read): {', '.join(attached)}")
    return manuscript.parsed(clean_title(subject, name), MediaType.MAIL)


def _message(data: bytes, name: str) -> EmailMessage:
    """Fields may be in UTF-8; programs that follow no standard put other bytes there, which are made UTF-8."""
    message = message_from_bytes(data, policy=default)
    head, end, body = _HEAD_END.split(data, maxsplit=1) if _HEAD_END.search(data) else (data, b"", b"")
    if head.isascii():
        return message
    text = decode(head, name, message.get_content_charset())
    return message_from_bytes(text.encode() + end + body, policy=default)


def _field(message: EmailMessage, field: str) -> str:
    raw = next((str(value) for key, value in message.raw_items() if key.lower() == field.lower()), "")
    value = str(message[field] or "") if raw.isascii() else raw.encode("utf-8", "surrogateescape").decode()
    return " ".join(value.split())


def _body(message: EmailMessage, name: str) -> ParsedDocument:
    for kind in ("plain", "html"):
        part = message.get_body((kind,))
        content = part.get_payload(decode=True) if part is not None else None
        if part is None or not isinstance(content, bytes):
            continue
        charset = part.get_content_charset()
        text = decode(content, name, charset)
        parsed = parse_html(text, name) if kind == "html" else parse_plain(text, name)
        if has_text(parsed.text):
            return parsed
    return parse_plain("", name)


def _attachment_name(part: EmailMessage) -> str:
    inner = part.get_payload(0) if part.get_content_type() == "message/rfc822" else None
    subject = str(inner["Subject"] or "") if isinstance(inner, EmailMessage) else ""
    return part.get_filename() or subject or part.get_content_type()
