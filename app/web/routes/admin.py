from fastapi import APIRouter

from app.web.access.guard import ADMIN, WRITE
from app.web.deps import AuditDep, Limit, Offset, SystemDep
from app.web.schemas.problem import Problem
from app.web.schemas.system import CacheReport, PrecomputeOut, PrecomputeRequest

router = APIRouter(tags=["admin"])


@router.post(
    "/precompute",
    operation_id="precompute",
    dependencies=[WRITE],
    summary="Have documents pre-read",
    status_code=202,
    responses={404: {"model": Problem}},
)
def precompute(wanted: PrecomputeRequest, system: SystemDep, audit: AuditDep) -> PrecomputeOut:
    return system.precompute(wanted.mode, wanted.document_id, audit)


@router.get(
    "/admin/cache",
    operation_id="cache_report",
    dependencies=[ADMIN],
    summary="Hits, misses with their reasons, and what is kept",
)
def cache_report(system: SystemDep, limit: Limit = 100, offset: Offset = 0) -> CacheReport:
    return system.cache(limit, offset)
