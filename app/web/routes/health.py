from fastapi import APIRouter, Response

from app.web.access.guard import PUBLIC
from app.web.deps import KnownDep, ServicesDep
from app.web.schemas.system import Health, Readiness
from app.web.system import System

router = APIRouter(tags=["health"])


@router.get("/healthz", operation_id="health", dependencies=[PUBLIC], summary="The web process answers")
async def health() -> Health:
    return Health(status="ok")


@router.get(
    "/readyz",
    operation_id="readiness",
    dependencies=[PUBLIC],
    summary="Whether every part answers that questions need",
    responses={503: {"model": Readiness, "description": "Some required part does not answer."}},
)
def readiness(services: ServicesDep, known: KnownDep, response: Response) -> Readiness:
    """What is wrong and what to do about it is told the operator's admins alone."""
    operators = services.settings.tenant
    found = System(services, operators).readiness()
    response.status_code = 200 if found.ready else 503
    return found if known is not None and known.runs(operators) else found.without_reasons()
