"""Adding a document: its bytes kept, its row made, a worker woken."""

import mimetypes
from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

from app.core.catalog import Catalog, Document, DocumentState
from app.core.codes import Code
from app.core.document_name import suffix_of
from app.core.errors import BadInput
from workers.files import DocumentFiles, Incoming
from workers.wake import Waker

_LONGEST_NAME = 1000
_LONGEST_NAME_BYTES = 2000  # a name is in an index, and Postgres has room for 2,700 bytes in one


class BadName(BadInput):
    code = Code.BAD_NAME


@dataclass(frozen=True)
class Adding:
    """`limit_bytes`: the largest file that is accepted."""

    catalog: Catalog
    files: DocumentFiles
    waker: Waker
    tenant: str
    limit_bytes: int

    def add(
        self,
        name: str,
        source: BinaryIO,
        collections: Iterable[str] = (),
        tags: Iterable[str] = (),
        media_type: str | None = None,
    ) -> tuple[Document, bool]:
        """The document that these bytes are now, and whether anything is new; it also gets these labels.

        The same bytes again are the document that has them, woken if it failed. `media_type` where it is known.
        Raises: BadName, FileTooLarge, EmptyFile, UnstorableText, BadLabel, TooManyLabels.
        """
        check_name(name)
        incoming = self.files.receive(source, self.limit_bytes)
        try:
            document, created = self.catalog.add_document(
                self.tenant,
                name,
                incoming.sha256,
                media_type or media_type_of(name),
                incoming.size_bytes,
                collections=collections,
                tags=tags,
            )
            self.settle(document, incoming)
        finally:
            self.files.discard(incoming)
        return document, created

    def settle(self, document: Document, incoming: Incoming) -> None:
        """Put the bytes of a document that has just been noted in their place, and have it worked on."""
        if not self.files.has(self.tenant, document.id, incoming.sha256):
            self.files.keep(incoming, self.tenant, document.id)
        if document.state is DocumentState.FAILED:
            self.catalog.retry(document.id)
        self.waker.wake_ingest(document.id)


def check_name(name: str) -> None:
    """Raises BadName."""
    if not name.strip() or len(name) > _LONGEST_NAME or len(name.encode(errors="replace")) > _LONGEST_NAME_BYTES:
        raise BadName(
            f"A document needs a name of at most {_LONGEST_NAME} characters, and {_LONGEST_NAME_BYTES} bytes in UTF-8."
        )


def media_type_of(name: str) -> str:
    """A first guess; reading the file tells."""
    return mimetypes.guess_type(f"file{suffix_of(name)}")[0] or "application/octet-stream"
