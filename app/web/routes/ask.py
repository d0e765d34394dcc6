from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi import Path as PathParam
from starlette.responses import JSONResponse, Response

from app.core.catalog import AnswerNotFound, BadLabel, ConversationNotFound
from app.web.access.guard import ASK
from app.web.admission import Overloaded
from app.web.deps import PLACE, AnsweringDep, OngoingDep, PrincipalDep, ServicesDep
from app.web.leaving import while_wanted
from app.web.live.errors import AnswerEnded, ResumeUnavailable, ServiceStopping, StopUnavailable
from app.web.openapi import problems
from app.web.preparing import CacheIncomplete, ContradictoryCache
from app.web.problems import respond
from app.web.schemas.ask import AnswerOut, AskRequest, StopOut
from app.web.schemas.ask_examples import STREAM_EXAMPLE
from app.web.schemas.problem import Problem
from app.web.stream import EVENT_NAMES, Event, EventStream, encoded, framed, single_response
from generator.errors import BadPolicy, EngineFailed, EngineUnavailable, QuestionTooLong
from kvstore.errors import TierDown
from retrieval.errors import IndexUnavailable

router = APIRouter(tags=["ask"])

RequestId = Annotated[
    str, PathParam(max_length=80, pattern=r"^[A-Za-z0-9_-]+$", description="The answer, as `meta` and `done` name it.")
]
EventNumber = Annotated[int, Query(ge=0, le=2**31, description="Number of the last event that has been read.")]
LastEventId = Annotated[
    int | None, Header(alias="Last-Event-ID", ge=0, le=2**31, description="The same, as browsers say it.")
]

_EVENT = {
    "type": "object",
    "description": "One event: meta, sources, delta…, then exactly one of done (the answer) and error (a problem).",
    "required": ["event", "data"],
    "properties": {
        "id": {"type": "string", "pattern": "^[0-9]+$", "description": "Its number, from 1."},
        "event": {"enum": list(EVENT_NAMES.values())},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
}
_EVENTS: dict[str, Any] = {"text/event-stream": {"schema": _EVENT, "example": STREAM_EXAMPLE}}
_ANSWER: dict[str, Any] = {"model": AnswerOut, "description": "The answer.", "content": _EVENTS}
ASKING_ERRORS = (
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
"""What asking may raise, whatever shape the question comes in."""


@router.post(
    "/ask",
    operation_id="ask",
    dependencies=[ASK, PLACE],
    summary="Ask the documents a question",
    response_model=None,
    responses={200: _ANSWER, **problems(ConversationNotFound, *ASKING_ERRORS)},
)
async def ask(
    request: Request, question: AskRequest, answering: AnsweringDep, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """Answer as JSON, or with `stream` as server-sent events with numbers.

    Closing the connection ends the generation, unless the question is `resumable`. What can be refused is refused
    before the first event, as a problem; what goes wrong later is the event `error`.
    """
    asked = await while_wanted(request, services.stopping, answering.prepare(question, principal))
    request.state.answer = answer = answering.begin(asked, streamed=question.stream)
    events = answer.follow()
    return EventStream(encoded(framed(events))) if question.stream else await single_response(request, events, _whole)


@router.post(
    "/ask/{request_id}/stop",
    operation_id="stop_answer",
    dependencies=[ASK],
    summary="End an answer with what there is of it",
    status_code=202,
    responses=problems(AnswerNotFound, AnswerEnded, StopUnavailable),
)
async def stop_answer(request_id: RequestId, ongoing: OngoingDep) -> StopOut:
    """Its stream ends with `done`, status `stopped`. For whoever asked, and for admins."""
    await ongoing.stop(request_id)
    return StopOut(request_id=request_id)


@router.get(
    "/ask/{request_id}/events",
    operation_id="resume_answer",
    dependencies=[ASK],
    summary="Read an answer's events again, and go on with them to the end",
    response_model=None,
    responses={
        200: {"description": "The events behind the one named.", "content": _EVENTS},
        204: {"description": "The event named was the terminal one."},
        **problems(AnswerNotFound, ResumeUnavailable),
    },
)
async def resume_answer(
    request_id: RequestId, ongoing: OngoingDep, after: EventNumber = 0, last_event_id: LastEventId = None
) -> Response:
    """For whoever asked, until `resume_seconds` after the end. `Last-Event-ID` goes before `after`."""
    frames = await ongoing.follow(request_id, after if last_event_id is None else last_event_id)
    return Response(status_code=204) if frames is None else EventStream(encoded(frames))


def _whole(event: Event) -> Response:
    return respond(event) if isinstance(event, Problem) else JSONResponse(event.model_dump(mode="json"))
