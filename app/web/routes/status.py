from fastapi import APIRouter

from app.web.access.guard import READ
from app.web.deps import SystemDep
from app.web.schemas.system import StatusOut

router = APIRouter(tags=["status"])


@router.get(
    "/status", operation_id="status", dependencies=[READ], summary="Models, documents and pre-reading at a glance"
)
def status(system: SystemDep) -> StatusOut:
    return system.status()
