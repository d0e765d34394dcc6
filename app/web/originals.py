"""Documents' files, as they were sent."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO
from urllib.parse import quote

from app.core.catalog import DocumentNotFound, DocumentState
from app.web.services import Services

_PIECE_BYTES = 1 << 20
_NOT_PLAIN = re.compile(r"[^ !#$%&'()+,\-.0-9;=@A-Z\[\]^_`a-z{}~]")
_SEPARATORS = re.compile(r"[/\\\x00]")
_ONLY_DOTS = re.compile(r"\.+")


@dataclass(frozen=True)
class Original:
    """An open file; `pieces` closes it."""

    name: str
    file: BinaryIO
    size_bytes: int

    def pieces(self) -> Iterator[bytes]:
        with self.file:
            while piece := self.file.read(_PIECE_BYTES):
                yield piece


def open_original(services: Services, tenant: str, document_id: str) -> Original:
    """The bytes of the version that answers questions, else of the one that is to. Blocking.

    Raises: DocumentNotFound, also for one that is being deleted; FileMissing.
    """
    document = services.catalog.get_document(tenant, document_id)
    if document.state is DocumentState.DELETING:
        raise DocumentNotFound(f"There is no document {document_id}.", "List the documents to see their ids.")
    version_id = document.current_version_id or document.pending_version_id
    version = services.catalog.get_version(version_id) if version_id else None
    file, size_bytes = services.files.open(tenant, document_id, version.sha256 if version else "none")
    return Original(document.name, file, size_bytes)


def content_disposition(name: str) -> str:
    """To save, not to show: the name in ASCII as well as it goes, and in UTF-8 (RFC 6266, RFC 8187).

    What could lead into another folder is an underscore in both.
    """
    name = _SEPARATORS.sub("_", name)
    if _ONLY_DOTS.fullmatch(name):
        name = "_" * len(name)
    return f"attachment; filename=\"{_NOT_PLAIN.sub('_', name)}\"; filename*=UTF-8''{quote(name, safe='')}"


__all__ = ["Original", "content_disposition", "open_original"]
