"""Uploaded files and their parsed text: `<dir>/<tenant>/<document id>/<sha256>` and `….txt`."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from app.core.codes import Code
from app.core.errors import BadInput, NotFound

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
_PIECE_BYTES = 1 << 20


class FileTooLarge(BadInput):
    code = Code.FILE_TOO_LARGE
    status = 413


class EmptyFile(BadInput):
    code = Code.EMPTY_FILE


class FileMissing(NotFound):
    code = Code.FILE_MISSING


@dataclass(frozen=True)
class StoredFile:
    """A version's bytes or text; `written_at` in seconds since 1970."""

    tenant: str
    document_id: str
    digest: str
    written_at: float


@dataclass(frozen=True)
class Incoming:
    """A file that has arrived but does not belong to a document yet."""

    path: Path
    sha256: str
    size_bytes: int


class DocumentFiles:
    """A folder that web and workers share. What users call a file never becomes a path."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._incoming = folder / ".incoming"

    def receive(self, source: BinaryIO, limit_bytes: int) -> Incoming:
        """Copy an upload to disk. Raises FileTooLarge, EmptyFile."""
        self._incoming.mkdir(parents=True, exist_ok=True)
        path = self._incoming / uuid4().hex
        try:
            return _copy(source, path, limit_bytes)
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def keep(self, incoming: Incoming, tenant: str, document_id: str) -> None:
        """Make an arrived file the document's. Repeatable with the same bytes."""
        target = self._document(tenant, document_id) / incoming.sha256
        target.parent.mkdir(parents=True, exist_ok=True)
        incoming.path.replace(target)

    def discard(self, incoming: Incoming) -> None:
        incoming.path.unlink(missing_ok=True)

    def has(self, tenant: str, document_id: str, digest: str) -> bool:
        return self._file(tenant, document_id, digest).is_file()

    def read(self, tenant: str, document_id: str, digest: str) -> bytes:
        """Raises FileMissing."""
        try:
            return self._file(tenant, document_id, digest).read_bytes()
        except FileNotFoundError as error:
            raise _missing() from error

    def open(self, tenant: str, document_id: str, digest: str) -> tuple[BinaryIO, int]:
        """The file, to be read and closed by the caller, and its size in bytes. Raises FileMissing."""
        try:
            file = self._file(tenant, document_id, digest).open("rb")
        except FileNotFoundError as error:
            raise _missing() from error
        return file, os.fstat(file.fileno()).st_size

    def keep_text(self, tenant: str, document_id: str, digest: str, text: str) -> None:
        """Keep the parsed text that every chunk's and citation's offsets count in."""
        target = self._text(tenant, document_id, digest)
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = target.with_suffix(f".{uuid4().hex}.tmp")
        temporary.write_bytes(text.encode())
        temporary.replace(target)

    def text(self, tenant: str, document_id: str, digest: str) -> str:
        """Raises FileMissing."""
        try:
            return self._text(tenant, document_id, digest).read_bytes().decode()
        except FileNotFoundError as error:
            raise FileMissing("The document has no text yet.", "Wait until it is parsed.") from error

    def count(self, tenant: str, document_id: str) -> int:
        """Of a document, whatever its versions, also what is about to be removed."""
        folders = [self._document(tenant, document_id), *self._leaving(document_id)]
        return sum(1 for folder in folders if folder.is_dir() for _ in folder.iterdir())

    def stored(self) -> Iterator[StoredFile]:
        """Everything that is kept of documents; what comes and goes meanwhile may be among it or not."""
        for path in self._folder.glob("[!.]*/*/*"):
            try:
                written_at = path.stat().st_mtime
            except FileNotFoundError:
                continue
            yield StoredFile(path.parts[-3], path.parts[-2], path.name.removesuffix(".txt"), written_at)

    def remove_empty(self, tenant: str, document_id: str) -> None:
        """The document's folder, if nothing is in it."""
        with suppress(OSError):
            self._document(tenant, document_id).rmdir()

    def remove_version(self, tenant: str, document_id: str, digest: str) -> None:
        self._file(tenant, document_id, digest).unlink(missing_ok=True)
        self._text(tenant, document_id, digest).unlink(missing_ok=True)

    def remove_document(self, tenant: str, document_id: str) -> None:
        # Moved away first: of two deletions at once, one has nothing left to do.
        self._incoming.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError):
            self._document(tenant, document_id).rename(self._incoming / f"{document_id}.{uuid4().hex}")
        for leaving in self._leaving(document_id):
            with suppress(FileNotFoundError):
                shutil.rmtree(leaving)

    def sweep(self, older_than_seconds: float, now: float) -> None:
        """Remove what a crash left half arrived or half removed; `now` is a Unix time."""
        if not self._incoming.is_dir():
            return
        for path in self._incoming.iterdir():
            if path.stat().st_mtime >= now - older_than_seconds:
                continue
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def _leaving(self, document_id: str) -> list[Path]:
        """What is being removed of it, or was when that was killed."""
        return list(self._incoming.glob(f"{_checked(document_id)}.*"))

    def _document(self, tenant: str, document_id: str) -> Path:
        return self._folder / _checked(tenant) / _checked(document_id)

    def _file(self, tenant: str, document_id: str, digest: str) -> Path:
        return self._document(tenant, document_id) / _checked(digest)

    def _text(self, tenant: str, document_id: str, digest: str) -> Path:
        return self._document(tenant, document_id) / f"{_checked(digest)}.txt"


def _copy(source: BinaryIO, path: Path, limit_bytes: int) -> Incoming:
    digest, size = sha256(), 0
    with path.open("xb") as file:
        while piece := source.read(_PIECE_BYTES):
            size += len(piece)
            if size > limit_bytes:
                raise FileTooLarge(
                    f"The file is larger than {limit_bytes} bytes.", "PREREAD_MAX_UPLOAD_BYTES sets the limit."
                )
            digest.update(piece)
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())
    if not size:
        raise EmptyFile("The file is empty.")
    return Incoming(path, digest.hexdigest(), size)


def _missing() -> FileMissing:
    return FileMissing("The document's file is not there.", "Add the document again.")


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise BadInput(f"“{name}” cannot name a stored file.")
    return name
