"""OpenAI's chat completions, as far as they are served here: names and shapes are OpenAI's."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.web.schemas.ask import Scope
from app.web.schemas.openai_examples import COMPLETION, ERROR, MODEL


class TextPart(BaseModel):
    """A piece of a message; only text is understood."""

    type: Literal["text"] = Field(description="Only text is understood.")
    text: str = Field(description="The piece.")


class Message(BaseModel):
    """The last message of the user is the question, earlier ones and their answers are history."""

    role: Literal["system", "developer", "user", "assistant"] = Field(description="Who says it.")
    content: str | list[TextPart] = Field(description="What is said.")

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content)


class StreamOptions(BaseModel):
    include_usage: bool = Field(False, description="Tell the usage in a last piece.")


class PrereadOptions(BaseModel):
    """What OpenAI has no field for."""

    model_config = ConfigDict(extra="forbid")

    sources: Literal["text", "annotations", "both"] = Field(
        "both", description="Where sources are told: as lines behind the answer, as annotations, or both."
    )
    scope: Scope = Field(
        default_factory=lambda: Scope(document_ids=None, collections=None, tags=None),
        description="Which documents may be used.",
    )


class ChatRequest(BaseModel):
    """Fields that change nothing here are accepted and ignored; any other is refused."""

    model_config = ConfigDict(
        extra="allow",
        json_schema_extra={
            "examples": [
                {"model": "preread", "messages": [{"role": "user", "content": "How many days of leave do I have?"}]}
            ]
        },
    )

    model: str = Field(description="preread, or preread:exact to compute everything.")
    messages: list[Message] = Field(min_length=1, max_length=1000, description="The conversation so far.")
    stream: bool | None = Field(False, description="Answer as server-sent events.")
    stream_options: StreamOptions | None = Field(None, description="What else a stream tells.")
    max_tokens: int | None = Field(None, ge=1, le=131_072, description="Longest answer, in tokens.")
    max_completion_tokens: int | None = Field(None, ge=1, le=131_072, description="The same, by its newer name.")
    temperature: float | None = Field(None, ge=0, le=2, description="0, the default: always the likeliest token.")
    top_p: float | None = Field(None, gt=0, le=1, description="Only 1, unless the temperature is 0.")
    n: int | None = Field(1, description="Only 1.")
    preread: PrereadOptions | None = Field(None, description="What OpenAI has no field for.")


class UrlCitation(BaseModel):
    url: str = Field(description="The document's text; behind #, the characters of the quote.")
    title: str = Field(description="The document's title.")
    start_index: int = Field(description="First character of the mark in the message.")
    end_index: int = Field(description="Character after it.")


class Annotation(BaseModel):
    type: Literal["url_citation"] = Field("url_citation", description="Always url_citation.")
    url_citation: UrlCitation


class AnswerMessage(BaseModel):
    role: Literal["assistant"] = Field("assistant", description="Always assistant.")
    content: str = Field(description="The answer; passages are marked like [1].")
    refusal: None = Field(None, description="Always null.")
    annotations: list[Annotation] = Field(description="Where the answer comes from.")


class Choice(BaseModel):
    index: int = Field(0, description="Always 0.")
    message: AnswerMessage
    logprobs: None = Field(None, description="Always null.")
    finish_reason: Literal["stop", "length"] = Field(description="length: it hit the longest answer.")


class PromptTokensDetails(BaseModel):
    cached_tokens: int = Field(description="Tokens that came from chunk KV or the prefix cache.")


class CompletionUsage(BaseModel):
    prompt_tokens: int = Field(description="Tokens of the whole prompt, passages included.")
    completion_tokens: int = Field(description="Tokens of the answer.")
    total_tokens: int = Field(description="Both together.")
    prompt_tokens_details: PromptTokensDetails


class ChatCompletion(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [COMPLETION]})

    id: str = Field(description="The request id, by which the answer can be stopped and rated.")
    object: Literal["chat.completion"] = Field("chat.completion", description="Always chat.completion.")
    created: int = Field(description="Seconds since 1970.")
    model: str = Field(description="The model asked for.")
    choices: list[Choice] = Field(description="One.")
    usage: CompletionUsage


class ChunkDelta(BaseModel):
    role: Literal["assistant"] | None = Field(None, description="In the first piece.")
    content: str | None = Field(None, description="The next piece of the answer.")
    annotations: list[Annotation] | None = Field(None, description="In the last piece.")


class ChunkChoice(BaseModel):
    index: int = Field(0, description="Always 0.")
    delta: ChunkDelta
    logprobs: None = Field(None, description="Always null.")
    finish_reason: Literal["stop", "length"] | None = Field(None, description="In the last piece.")


class ChatCompletionChunk(BaseModel):
    id: str = Field(description="The request id.")
    object: Literal["chat.completion.chunk"] = Field("chat.completion.chunk", description="Always that.")
    created: int = Field(description="Seconds since 1970.")
    model: str = Field(description="The model asked for.")
    choices: list[ChunkChoice] = Field(description="One; none in the piece with the usage.")
    usage: CompletionUsage | None = Field(None, description="In a piece of its own, where it was asked for.")


class ModelOut(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [MODEL]})

    id: str = Field(description="What to give as `model`.")
    object: Literal["model"] = Field("model", description="Always model.")
    created: int = Field(description="Seconds since 1970: when this model was first served.")
    owned_by: str = Field(description="Always preread.")


class ModelList(BaseModel):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"object": "list", "data": [MODEL, {**MODEL, "id": "preread:exact"}]}]}
    )

    object: Literal["list"] = Field("list", description="Always list.")
    data: list[ModelOut] = Field(description="All models.")


class OpenAIErrorBody(BaseModel):
    message: str = Field(description="A sentence for the user, and what to do next.")
    type: str = Field(description="invalid_request_error, authentication_error, permission_error, … or server_error.")
    param: str | None = Field(description="The field at fault, if one is.")
    code: str | None = Field(description="Stable short name of the error.")


class OpenAIError(BaseModel):
    """Errors of `/v1` have OpenAI's shape."""

    model_config = ConfigDict(json_schema_extra={"examples": [ERROR]})

    error: OpenAIErrorBody

    def body(self) -> dict[str, Any]:
        return self.model_dump(mode="json")
