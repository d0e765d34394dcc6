from fastapi import APIRouter
from fastapi.responses import StreamingResponse

from app.core.catalog import DocumentNotFound
from app.web.access.guard import READ
from app.web.deps import DocumentId, PrincipalDep, ServicesDep
from app.web.openapi import problems
from app.web.originals import content_disposition, open_original
from workers.files import FileMissing

router = APIRouter(prefix="/documents", tags=["documents"])

_ANY_BYTES = "application/octet-stream"


@router.get(
    "/{document_id}/file",
    operation_id="get_document_file",
    dependencies=[READ],
    summary="The document's file, byte for byte, under its name",
    response_class=StreamingResponse,
    responses={
        200: {"content": {_ANY_BYTES: {"schema": {"type": "string", "format": "binary"}}}},
        **problems(DocumentNotFound, FileMissing),
    },
)
def get_document_file(document_id: DocumentId, principal: PrincipalDep, services: ServicesDep) -> StreamingResponse:
    """A stranger's file: browsers are to save it, whatever it says it is, and to run nothing of it."""
    original = open_original(services, principal.tenant, document_id)
    return StreamingResponse(
        original.pieces(),
        media_type=_ANY_BYTES,
        headers={
            "Content-Disposition": content_disposition(original.name),
            "Content-Length": str(original.size_bytes),
            "Content-Security-Policy": "default-src 'none'; sandbox",
            "X-Content-Type-Options": "nosniff",
        },
    )
