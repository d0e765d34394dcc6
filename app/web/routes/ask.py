from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.core.catalog import BadLabel
from app.web.access.guard import ASK
from app.web.asked import CacheIncomplete, ContradictoryCache
from app.web.deps import AnsweringDep, PrincipalDep
from app.web.openapi import problems
from app.web.racing import ServiceStopping
from app.web.schemas.ask import AnswerOut, AskRequest
from app.web.schemas.ask_examples import STREAM_EXAMPLE
from app.web.stream import EVENT_NAMES, EventStream, single_response
from generator.errors import BadPolicy, EngineFailed, EngineUnavailable, QuestionTooLong
from kvstore.errors import TierDown
from retrieval.errors import IndexUnavailable

router = APIRouter(tags=["ask"])

_EVENT = {
    "type": "object",
    "description": "One event: meta, sources, delta…, then exactly one of done (the answer) and error (a problem).",
    "required": ["event", "data"],
    "properties": {
        "event": {"enum": list(EVENT_NAMES.values())},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
}
_ANSWER: dict[str, Any] = {
    "model": AnswerOut,
    "description": "The answer.",
    "content": {"text/event-stream": {"schema": _EVENT, "example": STREAM_EXAMPLE}},
}
_PROBLEMS = problems(
    BadLabel,
    BadPolicy,
    ContradictoryCache,
    QuestionTooLong,
    CacheIncomplete,
    EngineUnavailable,
    EngineFailed,
    IndexUnavailable,
    TierDown,
    ServiceStopping,
)


@router.post(
    "/ask",
    operation_id="ask",
    dependencies=[ASK],
    summary="Ask the documents a question",
    response_model=None,
    responses={200: _ANSWER, **_PROBLEMS},
)
async def ask(request: Request, question: AskRequest, answering: AnsweringDep, principal: PrincipalDep) -> Response:
    """Answer as JSON, or with `stream` as server-sent events. Closing the connection ends the generation.

    What can be refused is refused before the first event, as a problem; what goes wrong later is the event `error`.
    """
    asked = await answering.prepare(question, principal.tenant)
    events = answering.answer(asked)
    return EventStream(events) if question.stream else await single_response(request, events)
