"""What is asked of `/ask` when an OpenAI client asks for a chat completion."""

from typing import Any

from pydantic import ValidationError

from app.web.asked import Told
from app.web.openai.errors import BadChatRequest, UnsupportedParameter
from app.web.openai.models import cache_mode
from app.web.schemas.ask import AskRequest
from app.web.schemas.openai import ChatRequest, Message, PrereadOptions
from generator.prompt import Turn

_IGNORED = {
    *("user", "seed", "metadata", "service_tier", "safety_identifier", "prompt_cache_key", "prompt_cache_retention"),
    *("reasoning_effort", "verbosity", "parallel_tool_calls"),
}
_NOTHING: dict[str, tuple[Any, ...]] = {
    "stop": ([], ""),
    "logprobs": (False,),
    "top_logprobs": (0,),
    "tools": ([],),
    "functions": ([],),
    "tool_choice": ("none", "auto"),
    "function_call": ("none", "auto"),
    "response_format": ({"type": "text"},),
    "presence_penalty": (0,),
    "frequency_penalty": (0,),
    "logit_bias": ({},),
    "modalities": (["text"],),
    "store": (False,),
}
"""Fields that are accepted with a value that asks for nothing."""


def asked_of(chat: ChatRequest) -> tuple[AskRequest, Told]:
    """Raises ModelNotFound, UnsupportedParameter, BadChatRequest."""
    cache = cache_mode(chat.model)
    _refuse_unsupported(chat)
    question, told = _read(chat.messages)
    options = chat.preread or PrereadOptions(sources="both")
    try:
        ask = AskRequest(
            question=question,
            scope=options.scope,
            stream=bool(chat.stream),
            max_tokens=chat.max_completion_tokens or chat.max_tokens,
            temperature=chat.temperature or 0.0,
            cache=cache,
            policy=None,
            ratio=None,
            conversation_id=None,
            resumable=False,
            debug=False,
        )
    except ValidationError as error:
        fault = error.errors()[0]
        raise BadChatRequest("messages", f"The last message cannot be asked: {fault['msg']}.") from error
    return ask, told


def _read(messages: list[Message]) -> tuple[str, Told]:
    """The question, which the user's last messages in a row make, and what comes before it."""
    if messages[-1].role != "user":
        raise BadChatRequest("messages", "The last message must be the user's: it is the question.")
    instructions: list[str] = []
    turns: list[Turn] = []
    asked: list[str] = []
    for message in messages:
        if message.role in ("system", "developer"):
            instructions.append(message.text.strip())
        elif message.role == "user":
            asked.append(message.text.strip())
        elif asked:
            turns.append(Turn("\n".join(asked), message.text.strip()))
            asked = []
    return "\n".join(asked), Told(tuple(turns), "\n".join(filter(None, instructions)))


def _refuse_unsupported(chat: ChatRequest) -> None:
    if chat.n not in (None, 1):
        raise UnsupportedParameter("n", "Only one answer is given.", "Leave “n” out, or set it to 1.")
    if chat.top_p not in (None, 1) and chat.temperature:
        raise UnsupportedParameter("top_p", "Tokens are drawn from all of them.", "Set “top_p” to 1, or leave it out.")
    for name, value in (chat.model_extra or {}).items():
        if value is None or name in _IGNORED or value in _NOTHING.get(name, ()):
            continue
        raise UnsupportedParameter(name, f"“{name}” is not supported here.", "Leave it out.")
