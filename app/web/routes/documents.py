from functools import partial
from hashlib import sha256
from typing import Annotated

from fastapi import APIRouter, Form, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import JSONResponse, PlainTextResponse

from app.core.catalog import (
    BadCursor,
    BadLabel,
    DocumentGone,
    DocumentNotFound,
    IdempotencyInProgress,
    IdempotencyMismatch,
    TooManyLabels,
    UnstorableText,
)
from app.web.access.guard import READ, WRITE
from app.web.deps import (
    After,
    DocumentFilterDep,
    DocumentId,
    IdempotencyDep,
    LibraryDep,
    Limit,
    Offset,
    UrlListDep,
)
from app.web.idempotency import REPLAYED_HEADER
from app.web.library import Library
from app.web.openapi import problems
from app.web.schemas.documents import DocumentAdded, DocumentOut, DocumentPage, DocumentVectors
from app.web.schemas.labels import LabelList
from app.web.schemas.urls import UrlsAdded, UrlsIn
from retrieval.errors import IndexUnavailable
from workers.adding import BadName
from workers.files import EmptyFile, FileMissing, FileTooLarge

router = APIRouter(prefix="/documents", tags=["documents"])


_REPLAYED = {REPLAYED_HEADER: {"description": "true: this was answered before.", "schema": {"const": "true"}}}
_PIECE_BYTES = 1 << 20
_ONCE = (IdempotencyMismatch, IdempotencyInProgress)


@router.get(
    "",
    operation_id="list_documents",
    dependencies=[READ],
    summary="List documents, newest first",
    responses=problems(BadCursor, BadLabel),
)
def list_documents(
    library: LibraryDep, chosen: DocumentFilterDep, limit: Limit = 50, offset: Offset = 0, after: After = None
) -> DocumentPage:
    return library.page(limit, offset, chosen, after)


@router.post(
    "",
    operation_id="add_document",
    dependencies=[WRITE],
    summary="Add a document",
    status_code=201,
    response_model=DocumentAdded,
    responses={
        200: {"model": DocumentAdded, "description": "The same bytes were there already.", "headers": _REPLAYED},
        201: {"headers": _REPLAYED},
        **problems(BadName, EmptyFile, FileTooLarge, UnstorableText, BadLabel, TooManyLabels, DocumentGone, *_ONCE),
    },
)
async def add_document(
    file: UploadFile,
    library: LibraryDep,
    once: IdempotencyDep,
    collections: Annotated[LabelList, Form(description="Collections that the document comes into.")] = [],  # noqa: B006
    tags: Annotated[LabelList, Form(description="Tags that the document gets.")] = [],  # noqa: B006
) -> JSONResponse:
    """The same name with other bytes becomes a new version; the old one answers until the new one can.

    Labels come to those that the document has.
    """

    def request() -> list[object]:
        return [add_document.__name__, _name(file), _digest(file), collections, tags]

    return await run_in_threadpool(once.answer, request, partial(_add, library, file, collections, tags))


@router.post(
    "/urls",
    operation_id="add_urls",
    dependencies=[WRITE],
    summary="Add documents by their URLs; each has a result of its own",
    response_model=UrlsAdded,
    responses={200: {"headers": _REPLAYED}, **problems(BadLabel, TooManyLabels, *_ONCE)},
)
def add_urls(wanted: UrlsIn, urls: UrlListDep, once: IdempotencyDep) -> JSONResponse:
    """Hosts must be allowed (`PREREAD_URL_HOSTS`). One that fails keeps no other: its result has an `error`."""
    return once.answer(lambda: [add_urls.__name__, wanted.model_dump(mode="json")], lambda: (200, urls.add(wanted)))


@router.get(
    "/{document_id}",
    operation_id="get_document",
    dependencies=[READ],
    summary="Show one document",
    responses=problems(DocumentNotFound),
)
def get_document(document_id: DocumentId, library: LibraryDep) -> DocumentOut:
    return library.get(document_id)


@router.get(
    "/{document_id}/text",
    operation_id="get_document_text",
    dependencies=[READ],
    summary="The document's text, which citations count in",
    response_class=PlainTextResponse,
    responses={
        200: {"content": {"text/plain": {"example": "# Travel\n\nThe travel meal allowance is 45 euros a day.\n"}}},
        **problems(DocumentNotFound, FileMissing),
    },
)
def get_document_text(document_id: DocumentId, library: LibraryDep) -> PlainTextResponse:
    return PlainTextResponse(library.text(document_id), headers={"X-Content-Type-Options": "nosniff"})


@router.get(
    "/{document_id}/vectors",
    operation_id="count_document_vectors",
    dependencies=[READ],
    summary="How many vectors the index holds of a document, also of one that is gone",
    responses=problems(IndexUnavailable),
)
def count_document_vectors(document_id: DocumentId, library: LibraryDep) -> DocumentVectors:
    return DocumentVectors(vectors=library.vectors(document_id))


@router.delete(
    "/{document_id}",
    operation_id="delete_document",
    dependencies=[WRITE],
    summary="Delete a document and all that was made of it",
    status_code=204,
    responses=problems(DocumentNotFound),
)
def delete_document(document_id: DocumentId, library: LibraryDep) -> None:
    """It is gone at once from answers, lists and caches; what does not answer now is emptied later."""
    library.delete(document_id)


@router.post(
    "/{document_id}/retry",
    operation_id="retry_document",
    dependencies=[WRITE],
    summary="Try a failed document again",
    status_code=202,
    responses=problems(DocumentNotFound, DocumentGone),
)
def retry_document(document_id: DocumentId, library: LibraryDep) -> DocumentOut:
    return library.retry(document_id)


def _add(library: Library, file: UploadFile, collections: list[str], tags: list[str]) -> tuple[int, DocumentAdded]:
    file.file.seek(0)
    added = library.add(_name(file), file.file, collections, tags)
    return (201 if added.created else 200), added


def _digest(file: UploadFile) -> str:
    digest = sha256()
    while piece := file.file.read(_PIECE_BYTES):
        digest.update(piece)
    return digest.hexdigest()


def _name(file: UploadFile) -> str:
    # So the HTML standard has browsers write quotation marks and line ends in a multipart file name, and nothing else.
    return (file.filename or "").replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")
