"""An answer as a chat completion: whole, or piece by piece."""

import json
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Literal

from fastapi.responses import JSONResponse

from app.web.openai.errors import error_of_problem, problem_response
from app.web.openai.sources import Where, sources_of
from app.web.schemas.ask import AnswerOut, DeltaEvent, MetaEvent, Status
from app.web.schemas.ask import Usage as AnswerUsage
from app.web.schemas.openai import (
    AnswerMessage,
    ChatCompletion,
    ChatCompletionChunk,
    Choice,
    ChunkChoice,
    ChunkDelta,
    CompletionUsage,
    PromptTokensDetails,
)
from app.web.schemas.problem import Problem
from app.web.stream import Event, Numbered

_DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Completion:
    """How one answer is to be told. `base_url` ends in a slash."""

    request_id: str
    model: str
    base_url: str
    sources: Where
    include_usage: bool
    created: int = field(default_factory=lambda: int(time.time()))

    def whole(self, event: Event) -> JSONResponse:
        """The response to an answer's terminal event."""
        if isinstance(event, Problem):
            return problem_response(event)
        assert isinstance(event, AnswerOut)
        sources = sources_of(event.answer, event.citations, self.sources, self.base_url)
        completion = ChatCompletion(
            id=self.request_id,
            created=self.created,
            model=self.model,
            choices=[
                Choice(
                    message=AnswerMessage(content=event.answer + sources.suffix, annotations=sources.annotations),
                    finish_reason=_finish_reason(event),
                )
            ],
            usage=_usage(event.usage),
        )
        return JSONResponse(completion.model_dump(mode="json"))

    async def pieces(self, events: AsyncGenerator[Numbered | None]) -> AsyncGenerator[bytes | None]:
        """The answer's events as a stream of chunks; None where none came for a while."""
        text: list[str] = []
        async with aclosing(events):
            async for item in events:
                match item.event if item else None:
                    case None:
                        yield None
                    case MetaEvent():
                        yield self._chunk(ChunkDelta(role="assistant", content=""))
                    case DeltaEvent(text=piece):
                        text.append(piece)
                        yield self._chunk(ChunkDelta(content=piece))
                    case AnswerOut() as answer:
                        for chunk in self._last("".join(text), answer):
                            yield chunk
                    case Problem() as problem:
                        # The official client raises it; a [DONE] would say that all went well.
                        yield _data(error_of_problem(problem).body())

    def _last(self, text: str, answer: AnswerOut) -> list[bytes]:
        sources = sources_of(text, answer.citations, self.sources, self.base_url)
        chunks = [self._chunk(ChunkDelta(content=sources.suffix))] if sources.suffix else []
        last = ChunkDelta(annotations=sources.annotations) if sources.annotations else ChunkDelta()
        chunks.append(self._chunk(last, finish_reason=_finish_reason(answer)))
        if self.include_usage:
            chunks.append(self._data(choices=[], usage=_usage(answer.usage)))
        return [*chunks, _DONE]

    def _chunk(self, delta: ChunkDelta, **more: Any) -> bytes:
        return self._data(choices=[ChunkChoice(delta=delta, **more)])

    def _data(self, **fields: Any) -> bytes:
        chunk = ChatCompletionChunk(id=self.request_id, created=self.created, model=self.model, **fields)
        body = chunk.model_dump(mode="json", exclude_unset=True)
        return _data({**body, "object": chunk.object, "choices": [_shown(choice) for choice in chunk.choices]})


def _shown(choice: ChunkChoice) -> dict[str, Any]:
    return {**choice.model_dump(mode="json"), "delta": choice.delta.model_dump(mode="json", exclude_unset=True)}


def _data(body: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(body)}\n\n".encode()


def _finish_reason(answer: AnswerOut) -> Literal["stop", "length"]:
    return "length" if answer.status is Status.TRUNCATED else "stop"


def _usage(usage: AnswerUsage) -> CompletionUsage:
    cached = (usage.reused_tokens or 0) + (usage.prefix_tokens or 0)
    return CompletionUsage(
        prompt_tokens=usage.prompt_tokens,
        completion_tokens=usage.completion_tokens,
        total_tokens=usage.prompt_tokens + usage.completion_tokens,
        prompt_tokens_details=PromptTokensDetails(cached_tokens=cached),
    )
