from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from app.web.access.guard import METRICS
from app.web.deps import PrincipalDep, ServicesDep
from app.web.metrics import exposition
from app.web.schemas.problem import Problem

router = APIRouter(tags=["admin"])


@router.get(
    "/metrics",
    operation_id="metrics",
    dependencies=[METRICS],
    summary="Counters and gauges for Prometheus",
    response_class=PlainTextResponse,
    responses={503: {"model": Problem, "description": "The database does not answer."}},
)
def metrics(services: ServicesDep, principal: PrincipalDep) -> Response:
    return Response(exposition(services, principal), media_type=CONTENT_TYPE_PLAIN_0_0_4)
