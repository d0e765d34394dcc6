from fastapi import APIRouter

from app.web.access.guard import ADMIN
from app.web.deps import AuditDep, Limit, Offset
from app.web.schemas.audit import AuditPageOut

router = APIRouter(tags=["admin"])


@router.get("/admin/audit", operation_id="list_audit", dependencies=[ADMIN], summary="Who changed what, newest first")
def list_audit(audit: AuditDep, limit: Limit = 50, offset: Offset = 0) -> AuditPageOut:
    return audit.page(limit, offset)
