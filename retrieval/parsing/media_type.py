"""What kind of file this is: by its content; between kinds of text, by its name."""

import json
import re
from enum import StrEnum

from app.core.document_name import suffix_of
from retrieval.errors import UnsupportedType


class MediaType(StrEnum):
    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    EPUB = "application/epub+zip"
    MAIL = "message/rfc822"
    HTML = "text/html"
    MARKDOWN = "text/markdown"
    RST = "text/x-rst"
    CSV = "text/csv"
    JSON = "application/json"
    PLAIN = "text/plain"


SUPPORTED_HINT = (
    "PDF, Word (DOCX), PowerPoint (PPTX), Excel (XLSX), HTML, Markdown, reStructuredText, CSV, JSON, e-mail (EML), "
    "EPUB and plain text files can be added."
)
TEXT_SUFFIXES = {
    ".md": MediaType.MARKDOWN, ".markdown": MediaType.MARKDOWN, ".mdown": MediaType.MARKDOWN,
    ".mkd": MediaType.MARKDOWN, ".html": MediaType.HTML, ".htm": MediaType.HTML, ".xhtml": MediaType.HTML,
    ".rst": MediaType.RST, ".rest": MediaType.RST, ".csv": MediaType.CSV, ".tsv": MediaType.CSV,
    ".json": MediaType.JSON, ".jsonl": MediaType.JSON, ".ndjson": MediaType.JSON, ".eml": MediaType.MAIL,
    ".txt": MediaType.PLAIN, ".text": MediaType.PLAIN,
}  # fmt: skip
SUFFIXES = {".pdf", ".docx", ".pptx", ".xlsx", ".epub", *TEXT_SUFFIXES}

_PDF_HEADER_WITHIN = 1024
_PDF_HEADER = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|[\r\n\x00])%PDF-\d")
_MARKUP_START_WITHIN = 4096
_PROLOGUE = r"\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*"
_HTML_START = re.compile(_PROLOGUE + r"<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_SVG_START = re.compile(_PROLOGUE + r"(?:<!doctype\s+svg[^>]*>\s*)?<svg\b", re.IGNORECASE | re.DOTALL)
_MAIL_HEAD_WITHIN = 16_384
_MAIL_FIELD = re.compile(rb"(?:[!-9;-~]+:|[ \t]|From )")
_KNOWN_MAIL_FIELD = re.compile(
    rb"^(?:from|to|date|subject|message-id|mime-version|received|return-path):", re.IGNORECASE | re.MULTILINE
)
_FEWEST_MAIL_FIELDS = 3
_FOREIGN_STARTS = {
    b"{\\rtf": "an RTF file",
    b"%!PS": "a PostScript file",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF8": "an image",
    b"II*\x00": "an image",
    b"MM\x00*": "an image",
    b"RIFF": "a media file",
    b"ID3": "a media file",
    b"OggS": "a media file",
    b"\x1f\x8b": "a compressed file",
    b"BZh": "a compressed file",
    b"\xfd7zXZ": "a compressed file",
    b"\x28\xb5\x2f\xfd": "a compressed file",
    b"7z\xbc\xaf": "a compressed file",
    b"Rar!": "a compressed file",
    b"\x7fELF": "a program",
    b"SQLite format 3": "a database",
}


def is_pdf(data: bytes) -> bool:
    return bool(_PDF_HEADER.search(data[:_PDF_HEADER_WITHIN]))


def is_mail(data: bytes, name: str) -> bool:
    """It begins with the fields of a message, and no name says that this is some other text."""
    if TEXT_SUFFIXES.get(suffix_of(name), MediaType.MAIL) is not MediaType.MAIL:
        return False
    head = re.split(rb"\r?\n\r?\n", data[:_MAIL_HEAD_WITHIN], maxsplit=1)[0]
    known = {field.lower() for field in _KNOWN_MAIL_FIELD.findall(head)}
    return len(known) >= _FEWEST_MAIL_FIELDS and all(map(_MAIL_FIELD.match, head.splitlines()))


def refuse_foreign(data: bytes, name: str) -> None:
    """Raises: UnsupportedType for kinds of file that are known but hold no text."""
    for start, kind in _FOREIGN_STARTS.items():
        if data.startswith(start):
            raise UnsupportedType(f"{name} is {kind}, which is not read.", SUPPORTED_HINT)


def text_media_type(text: str, name: str) -> MediaType:
    """Raises: UnsupportedType for a drawing."""
    start = text[:_MARKUP_START_WITHIN]
    if _HTML_START.match(start):
        return MediaType.HTML
    if _SVG_START.match(start):
        raise UnsupportedType(f"{name} is an SVG drawing, which is not read.", SUPPORTED_HINT)
    named = TEXT_SUFFIXES.get(suffix_of(name))
    # Without its fields it is no message.
    if named is None or named is MediaType.MAIL:
        return MediaType.JSON if _is_json(text) else MediaType.PLAIN
    return named


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
