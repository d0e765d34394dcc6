from fastapi import APIRouter, Response

from app.core.errors import Unavailable
from app.web.access.guard import PUBLIC
from app.web.deps import KnownDep, ProbingDep, ServicesDep
from app.web.schemas.system import Health, Readiness

router = APIRouter(tags=["health"])


@router.get("/healthz", operation_id="health", dependencies=[PUBLIC], summary="The web process answers")
async def health() -> Health:
    return Health(status="ok")


@router.get(
    "/readyz",
    operation_id="readiness",
    dependencies=[PUBLIC],
    summary="Whether every part answers that questions need",
    responses={503: {"model": Readiness, "description": "A required part does not answer, or web is being stopped."}},
)
async def readiness(
    probing: ProbingDep, services: ServicesDep, known: KnownDep, response: Response
) -> Readiness:
    """What is wrong and what to do about it is told the operator's admins alone."""
    found = await probing.readiness()
    if not found.ready:
        response.status_code = 503
        response.headers["Retry-After"] = str(Unavailable.retry_after_seconds)
    return found if known is not None and known.runs(services.settings.tenant) else found.without_reasons()
