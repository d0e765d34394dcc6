"""What is inside a file that holds others: ZIP archives and OLE containers."""

from zipfile import ZipFile

from retrieval.errors import PasswordProtected, UnsupportedType
from retrieval.parsing.archive import damage_reported
from retrieval.parsing.media_type import SUPPORTED_HINT, MediaType

ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
OLE_START = b"\xd0\xcf\x11\xe0"

_CONTENT_TYPES = "[Content_Types].xml"
_MIME_TYPE = "mimetype"
_LONGEST_DECLARATION = 1_000_000
# The main part's type, in all its variants: document, template, with macros.
_MAIN_PARTS = {
    b"wordprocessingml.document.main+xml": MediaType.DOCX,
    b"application/vnd.ms-word.document.macroEnabled.main+xml": MediaType.DOCX,
    b"presentationml.presentation.main+xml": MediaType.PPTX,
    b"application/vnd.ms-powerpoint.presentation.macroEnabled.main+xml": MediaType.PPTX,
    b"spreadsheetml.sheet.main+xml": MediaType.XLSX,
    b"application/vnd.ms-excel.sheet.macroEnabled.main+xml": MediaType.XLSX,
}
_SAVE_AS = "Save it as DOCX, PPTX, XLSX or PDF and add that."
_OLE_KINDS = {"WordDocument": "Word", "Workbook": "Excel", "Book": "Excel", "PowerPoint Document": "PowerPoint"}


def zip_media_type(archive: ZipFile, name: str) -> MediaType:
    """Raises: UnreadableFile, UnsupportedType."""
    names = set(archive.namelist())
    with damage_reported(name):
        if _CONTENT_TYPES in names:
            with archive.open(_CONTENT_TYPES) as file:
                declared = file.read(_LONGEST_DECLARATION)
            for part, media_type in _MAIN_PARTS.items():
                if part in declared:
                    return media_type
            raise UnsupportedType(f"{name} is a kind of Office file that is not read.", _SAVE_AS)
        if _MIME_TYPE in names:
            with archive.open(_MIME_TYPE) as file:
                declared = file.read(_LONGEST_DECLARATION).strip()
            if declared == MediaType.EPUB.encode():
                return MediaType.EPUB
            if declared.startswith(b"application/vnd.oasis.opendocument"):
                raise UnsupportedType(f"{name} is an OpenDocument file, which is not read.", _SAVE_AS)
    raise UnsupportedType(f"{name} is a ZIP archive, which is not read.", f"Add what is in it. {SUPPORTED_HINT}")


def refuse_ole(data: bytes, name: str) -> None:
    """Raises: PasswordProtected for an encrypted Office file, UnsupportedType for those of before 2007."""
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise PasswordProtected(f"{name} opens with a password only.", "Remove the password and add the file again.")
    for stream, program in _OLE_KINDS.items():
        if stream.encode("utf-16-le") in data:
            raise UnsupportedType(f"{name} is an old {program} file, which is not read.", _SAVE_AS)
    if "__properties_version1.0".encode("utf-16-le") in data:
        raise UnsupportedType(f"{name} is an Outlook message, which is not read.", "Save it as EML and add that.")
    raise UnsupportedType(f"{name} is an old Office file of an unknown kind.", _SAVE_AS)
