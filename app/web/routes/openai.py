from typing import Annotated, Any

from fastapi import APIRouter, Request
from fastapi import Path as PathParam
from starlette.responses import Response

from app.web.access.guard import ASK
from app.web.deps import PLACE, AnsweringDep, PrincipalDep, ServicesDep
from app.web.leaving import while_wanted
from app.web.openai.completion import Completion
from app.web.openai.errors import BadChatRequest, ModelNotFound, OpenAIRoute, UnsupportedParameter
from app.web.openai.models import model, model_list
from app.web.openai.request import asked_of
from app.web.openapi import problems
from app.web.routes.ask import ASKING_ERRORS
from app.web.schemas.openai import ChatCompletion, ChatRequest, ModelList, ModelOut
from app.web.stream import EventStream, single_response

router = APIRouter(prefix="/v1", tags=["openai"], route_class=OpenAIRoute)

_STREAM = "data: {…chat.completion.chunk…}, again and again, then data: [DONE]; an error is data: {“error”: …}."
_EVENT = {
    "type": "object",
    "description": "One event: a chat.completion.chunk, an error, or in the end [DONE].",
    "required": ["data"],
    "properties": {"data": {"type": "string"}},
}
_ANSWER: dict[str, Any] = {
    "model": ChatCompletion,
    "description": "The answer.",
    "content": {"text/event-stream": {"schema": _EVENT, "example": _STREAM}},
}


@router.post(
    "/chat/completions",
    operation_id="create_chat_completion",
    dependencies=[ASK, PLACE],
    summary="Ask the documents as OpenAI's clients do",
    response_model=None,
    responses={200: _ANSWER, **problems(BadChatRequest, UnsupportedParameter, ModelNotFound, *ASKING_ERRORS)},
)
async def create_chat_completion(
    request: Request, chat: ChatRequest, answering: AnsweringDep, services: ServicesDep, principal: PrincipalDep
) -> Response:
    """The user's last message is the question, earlier ones are history; system messages go with the question."""
    ask, told = asked_of(chat)
    asked = await while_wanted(request, services.stopping, answering.prepare(ask, principal, told))
    completion = Completion(
        request_id=asked.request_id,
        model=chat.model,
        base_url=f"{services.settings.public_url}/" if services.settings.public_url else str(request.base_url),
        sources=chat.preread.sources if chat.preread else "both",
        include_usage=chat.stream_options is not None and chat.stream_options.include_usage,
    )
    request.state.answer = answer = answering.begin(asked, streamed=False)
    events = answer.follow()
    if chat.stream:
        return EventStream(completion.pieces(events))
    return await single_response(request, events, completion.whole)


@router.get("/models", operation_id="list_models", dependencies=[ASK], summary="The models that can be named")
def list_models() -> ModelList:
    return model_list()


@router.get(
    "/models/{model_id}",
    operation_id="get_model",
    dependencies=[ASK],
    summary="Show one model",
    responses=problems(ModelNotFound),
)
def get_model(model_id: Annotated[str, PathParam(max_length=100, description="Its name.")]) -> ModelOut:
    return model(model_id)
