from typing import Annotated

from fastapi import APIRouter, Form, Response, UploadFile
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import PlainTextResponse

from app.web.access.guard import READ, WRITE
from app.web.deps import After, DocumentFilterDep, DocumentId, LibraryDep, Limit, Offset, UrlListDep
from app.web.schemas.documents import DocumentAdded, DocumentOut, DocumentPage, DocumentVectors
from app.web.schemas.labels import LabelList
from app.web.schemas.problem import Problem
from app.web.schemas.urls import UrlsAdded, UrlsIn

router = APIRouter(prefix="/documents", tags=["documents"], responses={404: {"model": Problem}})


@router.get("", operation_id="list_documents", dependencies=[READ], summary="List documents, newest first")
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
    responses={200: {"model": DocumentAdded, "description": "The same bytes were there already."}},
)
async def add_document(
    file: UploadFile,
    library: LibraryDep,
    response: Response,
    collections: Annotated[LabelList, Form(description="Collections that the document comes into.")] = [],  # noqa: B006
    tags: Annotated[LabelList, Form(description="Tags that the document gets.")] = [],  # noqa: B006
) -> DocumentAdded:
    """The same name with other bytes becomes a new version; the old one answers until the new one can.

    Labels come to those that the document has.
    """
    added = await run_in_threadpool(library.add, _name(file), file.file, collections, tags)
    response.status_code = 201 if added.created else 200
    return added


@router.post(
    "/urls",
    operation_id="add_urls",
    dependencies=[WRITE],
    summary="Add documents by their URLs; each has a result of its own",
)
def add_urls(wanted: UrlsIn, urls: UrlListDep) -> UrlsAdded:
    return urls.add(wanted)


@router.get("/{document_id}", operation_id="get_document", dependencies=[READ], summary="Show one document")
def get_document(document_id: DocumentId, library: LibraryDep) -> DocumentOut:
    return library.get(document_id)


@router.get(
    "/{document_id}/text",
    operation_id="get_document_text",
    dependencies=[READ],
    summary="The document's text, which citations count in",
    response_class=PlainTextResponse,
)
def get_document_text(document_id: DocumentId, library: LibraryDep) -> PlainTextResponse:
    return PlainTextResponse(library.text(document_id), headers={"X-Content-Type-Options": "nosniff"})


@router.get(
    "/{document_id}/vectors",
    operation_id="count_document_vectors",
    dependencies=[READ],
    summary="How many vectors the index holds of a document, also of one that is gone",
)
def count_document_vectors(document_id: DocumentId, library: LibraryDep) -> DocumentVectors:
    return DocumentVectors(vectors=library.vectors(document_id))


@router.delete(
    "/{document_id}",
    operation_id="delete_document",
    dependencies=[WRITE],
    summary="Delete a document and all that was made of it",
    status_code=204,
)
def delete_document(document_id: DocumentId, library: LibraryDep) -> None:
    library.delete(document_id)


@router.post(
    "/{document_id}/retry",
    operation_id="retry_document",
    dependencies=[WRITE],
    summary="Try a failed document again",
    status_code=202,
)
def retry_document(document_id: DocumentId, library: LibraryDep) -> DocumentOut:
    return library.retry(document_id)


def _name(file: UploadFile) -> str:
    # So the HTML standard has browsers write quotation marks and line ends in a multipart file name, and nothing else.
    return (file.filename or "").replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")
