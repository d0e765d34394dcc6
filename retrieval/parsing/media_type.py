"""What kind of file this is: by its content first, then by its name."""

import re
from enum import StrEnum
from pathlib import PurePath

from retrieval.errors import UnreadableFile, UnsupportedType


class MediaType(StrEnum):
    PDF = "application/pdf"
    HTML = "text/html"
    MARKDOWN = "text/markdown"
    PLAIN = "text/plain"


_PDF_HEADER_WITHIN = 1024
_HTML_START_WITHIN = 4096
_HTML_START = re.compile(
    r"\s*(?:<\?xml[^>]*>\s*|<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b", re.IGNORECASE | re.DOTALL
)
_MARKDOWN_SUFFIXES = {".md", ".markdown", ".mdown", ".mkd"}
_HTML_SUFFIXES = {".html", ".htm", ".xhtml"}
_FOREIGN_STARTS = {
    b"PK\x03\x04": "a ZIP archive or an Office file",
    b"PK\x05\x06": "an empty ZIP archive",
    b"\xd0\xcf\x11\xe0": "an old or encrypted Office file",
    b"{\\rtf": "an RTF file",
    b"%!PS": "a PostScript file",
    b"\x89PNG": "an image",
    b"\xff\xd8\xff": "an image",
    b"GIF8": "an image",
    b"II*\x00": "an image",
    b"MM\x00*": "an image",
    b"RIFF": "a media file",
    b"\x1f\x8b": "a compressed file",
    b"BZh": "a compressed file",
    b"\xfd7zXZ": "a compressed file",
    b"7z\xbc\xaf": "a compressed file",
    b"\x7fELF": "a program",
    b"SQLite format 3": "a database",
}
_SUPPORTED_HINT = "Markdown, HTML, PDF and plain text files can be added."


def binary_media_type(data: bytes, name: str) -> MediaType | None:
    """PDF, or None for what has to be decoded as text.

    Raises: UnsupportedType, and UnreadableFile for a `.pdf` that is none.
    """
    if b"%PDF-" in data[:_PDF_HEADER_WITHIN]:
        return MediaType.PDF
    for start, kind in _FOREIGN_STARTS.items():
        if data.startswith(start):
            raise UnsupportedType(f"{name} is {kind}, which is not read.", _SUPPORTED_HINT)
    if PurePath(name).suffix.lower() == ".pdf":
        raise UnreadableFile(f"{name} is not a PDF file.", "The file may be damaged or only partly transferred.")
    return None


def text_media_type(text: str, name: str) -> MediaType:
    suffix = PurePath(name).suffix.lower()
    if suffix in _MARKDOWN_SUFFIXES:
        return MediaType.MARKDOWN
    if suffix in _HTML_SUFFIXES or _HTML_START.match(text[:_HTML_START_WITHIN]):
        return MediaType.HTML
    return MediaType.PLAIN
