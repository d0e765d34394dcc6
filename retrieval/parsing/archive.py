"""ZIP archives, as Office and EPUB files are: opened only where they unpack to a bounded size."""

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import PurePosixPath
from zipfile import BadZipFile, ZipFile

from retrieval.errors import ArchiveBomb, FileRefused, PasswordProtected, UnreadableFile

# What a file may unpack to. Office files are a few times their size; text of one letter is a thousand times.
_MOST_BYTES = 300_000_000
_MOST_MEMBERS = 20_000
_LARGEST_RATIO = 200
_SMALL_BYTES = 5_000_000
_ENCRYPTED = 0x1
_XML_SUFFIXES = {".xml", ".rels", ".opf", ".ncx"}
_ENTITY = re.compile(rb"<!ENTITY", re.IGNORECASE)
_PROLOGUE_BYTES = 100_000


@contextmanager
def damage_reported(name: str) -> Iterator[None]:
    """Whatever a library raises over a file means that the file is damaged; what is not the file's fault passes."""
    try:
        yield
    except (FileRefused, MemoryError, RecursionError):
        raise
    except Exception as error:
        raise UnreadableFile(
            f"{name} is damaged: {type(error).__name__}.", "Open it in the program it comes from and save it again."
        ) from error


def open_archive(data: bytes, name: str) -> ZipFile:
    """Raises: ArchiveBomb, PasswordProtected, UnreadableFile."""
    try:
        archive = ZipFile(BytesIO(data))
    except (BadZipFile, NotImplementedError, ValueError, EOFError) as error:
        raise UnreadableFile(
            f"{name} is damaged: its archive is cut off or broken.", "Transfer it again, or save it again."
        ) from error
    members = archive.infolist()
    unpacked = sum(member.file_size for member in members)
    swollen = any(
        member.file_size > _SMALL_BYTES and member.file_size > _LARGEST_RATIO * max(member.compress_size, 1)
        for member in members
    )
    if len(members) > _MOST_MEMBERS or unpacked > _MOST_BYTES or swollen:
        raise ArchiveBomb(
            f"{name} unpacks to {unpacked:,} bytes in {len(members):,} parts from {len(data):,} bytes.",
            "Split the document, or save it without what makes it so large.",
        )
    if any(member.flag_bits & _ENCRYPTED for member in members):
        raise PasswordProtected(f"{name} is encrypted.", "Remove the password and add the file again.")
    return archive


def check_members(archive: ZipFile, name: str) -> None:
    """Unpack everything once, a piece at a time: sizes must be true, checksums right, and XML without entities.

    Raises: ArchiveBomb, UnreadableFile.
    """
    for member in archive.infolist():
        read = 0
        try:
            with archive.open(member) as file:
                while piece := file.read(_PROLOGUE_BYTES):
                    if not read and _is_xml(member.filename) and _ENTITY.search(_ascii(piece)):
                        raise ArchiveBomb(
                            f"{name} defines XML entities in {member.filename}, which can grow without bound.",
                            "Save it again with an office program.",
                        )
                    read += len(piece)
        except (BadZipFile, NotImplementedError, EOFError, OSError, ValueError, zlib.error) as error:
            raise UnreadableFile(
                f"{name} is damaged in {member.filename}.", "Transfer it again, or save it again."
            ) from error
        if read != member.file_size:
            raise UnreadableFile(
                f"{name} is damaged: {member.filename} is cut off.", "Transfer it again, or save it again."
            )


def _is_xml(member: str) -> bool:
    return PurePosixPath(member).suffix.lower() in _XML_SUFFIXES


def _ascii(piece: bytes) -> bytes:
    """XML may be in UTF-16, where zeros stand between the letters."""
    return piece.replace(b"\x00", b"")
