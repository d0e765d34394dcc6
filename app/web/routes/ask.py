from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from app.core.catalog import BadLabel
from app.web.access.guard import ASK
from app.web.admission import Overloaded
from app.web.asked import CacheIncomplete, ContradictoryCache
from app.web.deps import PLACE, AnsweringDep, PrincipalDep, ServicesDep
from app.web.leaving import while_wanted
from app.web.openapi import problems
from app.web.racing import ServiceStopping
from app.web.schemas.ask import AnswerOut, AskRequest
from app.web.schemas.ask_examples import STREAM_EXAMPLE
from app.web.stream import EventStream, single_response
from generator.errors import BadPolicy, EngineFailed, EngineUnavailable, QuestionTooLong
from kvstore.errors import TierDown
from retrieval.errors import IndexUnavailable

router = APIRouter(tags=["ask"])

_STREAM = "meta, sources, delta…, then exactly one of done (the whole answer) and error (a problem)."
_ANSWER: dict[str, Any] = {
    "model": AnswerOut,
    "description": "The answer.",
    "content": {"text/event-stream": {"schema": {"type": "string", "description": _STREAM}, "example": STREAM_EXAMPLE}},
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
    Overloaded,
    ServiceStopping,
)


@router.post(
    "/ask",
    operation_id="ask",
    dependencies=[ASK, PLACE],
    summary="Ask the documents a question",
    response_model=None,
    responses={200: _ANSWER, **_PROBLEMS},
)
async def ask(
    request: Request, question: AskRequest, answering: AnsweringDep, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """Answer as JSON, or with `stream` as server-sent events. Closing the connection ends the generation.

    What can be refused is refused before the first event, as a problem; what goes wrong later is the event `error`.
    """
    preparing = answering.prepare(question, principal.tenant)
    asked = await while_wanted(request, services.stopping, preparing)
    events = answering.answer(asked)
    return EventStream(events) if question.stream else await single_response(request, events)
