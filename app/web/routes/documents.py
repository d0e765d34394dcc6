from typing import Annotated

from fastapi import APIRouter, Response, UploadFile
from fastapi import Path as PathParam
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse

from app.web.deps import LibraryDep, Limit, Offset, Search
from app.web.schemas.documents import DocumentAdded, DocumentOut, DocumentPage, DocumentVectors
from app.web.schemas.problem import Problem

router = APIRouter(prefix="/documents", tags=["documents"], responses={404: {"model": Problem}})

DocumentId = Annotated[str, PathParam(max_length=100, description="The document.")]


@router.get("", operation_id="list_documents", summary="List documents, newest first")
def list_documents(library: LibraryDep, limit: Limit = 50, offset: Offset = 0, q: Search = "") -> DocumentPage:
    return library.page(limit, offset, q)


@router.post(
    "",
    operation_id="add_document",
    summary="Add a document",
    status_code=201,
    responses={200: {"model": DocumentAdded, "description": "The same bytes were there already."}},
)
async def add_document(file: UploadFile, library: LibraryDep, response: Response) -> DocumentAdded:
    """The same name with other bytes becomes a new version; the old one answers until the new one can."""
    added = await run_in_threadpool(library.add, _name(file), file.file)
    response.status_code = 201 if added.created else 200
    return added


@router.get("/{document_id}", operation_id="get_document", summary="Show one document")
def get_document(document_id: DocumentId, library: LibraryDep) -> DocumentOut:
    return library.get(document_id)


@router.get(
    "/{document_id}/text",
    operation_id="get_document_text",
    summary="The document's text, which citations count in",
    response_class=PlainTextResponse,
)
def get_document_text(document_id: DocumentId, library: LibraryDep) -> PlainTextResponse:
    return PlainTextResponse(library.text(document_id), headers={"X-Content-Type-Options": "nosniff"})


@router.get(
    "/{document_id}/vectors",
    operation_id="count_document_vectors",
    summary="How many vectors the index holds of a document, also of one that is gone",
)
def count_document_vectors(document_id: DocumentId, library: LibraryDep) -> DocumentVectors:
    return DocumentVectors(vectors=library.vectors(document_id))


@router.delete(
    "/{document_id}", operation_id="delete_document", summary="Delete a document and all that was made of it",
    status_code=204,
)  # fmt: skip
def delete_document(document_id: DocumentId, library: LibraryDep) -> None:
    library.delete(document_id)


@router.post(
    "/{document_id}/retry", operation_id="retry_document", summary="Try a failed document again", status_code=202
)
def retry_document(document_id: DocumentId, library: LibraryDep) -> DocumentOut:
    return library.retry(document_id)


def _name(file: UploadFile) -> str:
    # Browsers write a quotation mark in a multipart file name as %22.
    return (file.filename or "").replace("%22", '"')
