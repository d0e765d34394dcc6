from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.web.access.guard import ASK
from app.web.deps import AnsweringDep, PrincipalDep
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
    503: {"model": Problem, "description": "engine_unavailable: the engine does not answer."},
}


@router.post(
    "/ask",
    operation_id="ask",
    dependencies=[ASK],
    summary="Ask the documents a question",
    response_model=None,
    responses=_RESPONSES,
)
async def ask(request: Request, question: AskRequest, answering: AnsweringDep, principal: PrincipalDep) -> Response:
    """Answer as JSON, or with `stream` as server-sent events. Closing the connection ends the generation."""
    asked = await answering.prepare(question, principal.tenant)
    events = answering.answer(asked)
    return EventStream(events) if question.stream else await single_response(request, events)
