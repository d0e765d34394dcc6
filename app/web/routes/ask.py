from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi import Path as PathParam
from starlette.responses import JSONResponse, Response

from app.web.access.guard import ASK
from app.web.deps import AnsweringDep, OngoingDep, PrincipalDep
from app.web.problems import respond
from app.web.schemas.ask import AnswerOut, AskRequest, StopOut
from app.web.schemas.problem import Problem
from app.web.stream import Event, EventStream, encoded, framed, single_response

router = APIRouter(tags=["ask"])

RequestId = Annotated[
    str, PathParam(max_length=80, pattern=r"^[A-Za-z0-9_-]+$", description="The answer, as `meta` and `done` name it.")
]
EventNumber = Annotated[int, Query(ge=0, le=2**31, description="Number of the last event that has been read.")]
LastEventId = Annotated[
    int | None, Header(alias="Last-Event-ID", ge=0, le=2**31, description="The same, as browsers say it.")
]

_STREAM = "meta, sources, delta…, then exactly one of done (the whole answer) and error (a problem)."
_EVENTS: dict[str, Any] = {"text/event-stream": {"example": _STREAM}}
_RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"model": AnswerOut, "description": "The answer.", "content": _EVENTS},
    403: {"model": Problem, "description": "forbidden: `debug` is for admins."},
    404: {"model": Problem, "description": "conversation_not_found."},
    409: {"model": Problem, "description": "cache_incomplete: a chunk has no KV and `cache` is `only`."},
    422: {"model": Problem, "description": "bad_input, bad_policy or question_too_long."},
    502: {"model": Problem, "description": "engine_failed: the engine broke off."},
    503: {"model": Problem, "description": "engine_unavailable: the engine does not answer."},
}
_NOT_FOUND: dict[str, Any] = {"model": Problem, "description": "answer_not_found: it is not there, or not yours."}


@router.post(
    "/ask",
    operation_id="ask",
    dependencies=[ASK],
    summary="Ask the documents a question",
    response_model=None,
    responses=_RESPONSES,
)
async def ask(request: Request, question: AskRequest, answering: AnsweringDep, principal: PrincipalDep) -> Response:
    """Answer as JSON, or with `stream` as server-sent events with numbers.

    Closing the connection ends the generation, unless the question is `resumable`.
    """
    asked = await answering.prepare(question, principal)
    events = answering.begin(asked, streamed=question.stream).follow()
    return EventStream(encoded(framed(events))) if question.stream else await single_response(request, events, _whole)


@router.post(
    "/ask/{request_id}/stop",
    operation_id="stop_answer",
    dependencies=[ASK],
    summary="End an answer with what there is of it",
    status_code=202,
    responses={
        404: _NOT_FOUND,
        409: {"model": Problem, "description": "answer_ended: there is nothing left to stop."},
        503: {"model": Problem, "description": "stop_unavailable: another web process cannot be told."},
    },
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
        404: _NOT_FOUND,
        422: {"model": Problem, "description": "bad_input: that is no number of an event."},
        503: {"model": Problem, "description": "resume_unavailable: the events were not kept, or cannot be read."},
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
