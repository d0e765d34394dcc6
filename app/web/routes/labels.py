from fastapi import APIRouter

from app.core.catalog import BadLabel, DocumentNotFound, LabelKind, TooManyLabels
from app.web.access.guard import READ, WRITE
from app.web.deps import DocumentId, LibraryDep
from app.web.openapi import problems
from app.web.schemas.documents import DocumentOut
from app.web.schemas.labels import LabelListOut, LabelsIn

router = APIRouter(tags=["labels"])


@router.get(
    "/collections",
    operation_id="list_collections",
    dependencies=[READ],
    summary="Collections and how many documents are in each",
)
def list_collections(library: LibraryDep) -> LabelListOut:
    return LabelListOut(items=library.labels(LabelKind.COLLECTION))


@router.get("/tags", operation_id="list_tags", dependencies=[READ], summary="Tags and how many documents have each")
def list_tags(library: LibraryDep) -> LabelListOut:
    return LabelListOut(items=library.labels(LabelKind.TAG))


@router.put(
    "/documents/{document_id}/labels",
    operation_id="label_document",
    dependencies=[WRITE],
    summary="Give a document other collections or tags",
    responses=problems(DocumentNotFound, BadLabel, TooManyLabels),
)
def label_document(document_id: DocumentId, labels: LabelsIn, library: LibraryDep) -> DocumentOut:
    return library.label(document_id, labels)
