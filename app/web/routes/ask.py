from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.web.access.guard import ASK
from app.web.deps import PLACE, AnsweringDep, PrincipalDep, ServicesDep
from app.web.leaving import while_wanted
from app.web.schemas.ask import AnswerOut, AskRequest
from app.web.schemas.problem import Problem
from app.web.stream import EventStream, single_response

router = APIRouter(tags=["ask"])

_STREAM = "meta, sources, delta…, then exactly one of done (the whole answer) and error (a problem)."
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"model": AnswerOut, "description": "The answer.", "content": {"text/event-stream": {"example": _STREAM}}},
    409: {"model": Problem, "description": "cache_incomplete: a chunk has no KV and `cache` is `only`."},
    422: {"model": Problem, "description": "bad_input, bad_policy or question_too_long."},
    502: {"model": Problem, "description": "engine_failed: the engine broke off."},
    503: {"model": Problem, "description": "engine_unavailable, overloaded or service_stopping: ask again later."},
}


@router.post(
    "/ask",
    operation_id="ask",
    dependencies=[ASK, PLACE],
    summary="Ask the documents a question",
    response_model=None,
    responses=_RESPONSES,
)
async def ask(
    request: Request, question: AskRequest, answering: AnsweringDep, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """Answer as JSON, or with `stream` as server-sent events. Closing the connection ends the generation."""
    preparing = answering.prepare(question, principal.tenant)
    asked = await while_wanted(request, services.stopping, preparing)
    events = answering.answer(asked)
    return EventStream(events) if question.stream else await single_response(request, events)
