"""`POST /ask`: what is asked and what is answered."""

import math
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from app.web.schemas.ask_examples import ANSWER, REQUEST_ID
from app.web.schemas.labels import LabelList


def _finite(score: float | None) -> float | None:
    return score if score is not None and math.isfinite(score) else None


Score = Annotated[float | None, BeforeValidator(_finite)]
"""JSON has no NaN and no infinity: what is none of the other numbers is null."""


class CacheMode(StrEnum):
    AUTO = "auto"
    OFF = "off"
    ONLY = "only"


class Status(StrEnum):
    ANSWERED = "answered"
    NO_ANSWER = "no_answer"
    STOPPED = "stopped"
    TRUNCATED = "truncated"


class Scope(BaseModel):
    """Which documents may be used: those that fit every list that is there. Nothing fits an empty one."""

    model_config = ConfigDict(extra="forbid")

    document_ids: list[str] | None = Field(None, max_length=1000, description="Only these documents.")
    collections: LabelList | None = Field(None, description="Only documents in one of these collections.")
    tags: LabelList | None = Field(None, description="Only documents with one of these tags.")


class AskRequest(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"question": "How many days of leave do I have?", "stream": True}]},
    )

    question: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=100_000),
        Field(description="The question, in any language."),
    ]
    scope: Scope = Field(
        default_factory=lambda: Scope(document_ids=None, collections=None, tags=None),
        description="Which documents may be used.",
    )
    stream: bool = Field(False, description="Answer as server-sent events.")
    max_tokens: int | None = Field(None, ge=1, le=131_072, description="Longest answer, in tokens.")
    temperature: float = Field(0.0, ge=0, le=2, description="0: always the likeliest token.")
    cache: CacheMode = Field(
        CacheMode.AUTO,
        description="off: compute everything (policy exact); only: refuse with 409 if a chunk has no KV.",
    )
    policy: str | None = Field(None, max_length=64, description="How fresh tokens are chosen: [alone:]NAME[@AMOUNT].")
    ratio: float | None = Field(
        None,
        ge=0.000_001,
        le=1,
        description="Share of the reused tokens to compute afresh, instead of the policy's; impact and hkvd have one.",
    )
    conversation_id: str | None = Field(
        None,
        max_length=64,
        pattern=r"^[A-Za-z0-9_-]+$",
        description="The conversation that this question goes on with; new: begin one. Absent: it stands alone.",
    )
    resumable: bool = Field(
        False,
        description="Go on for `resume_seconds` without a reader, so that the stream can be resumed after a broken "
        "connection. Otherwise closing the connection ends the generation.",
    )
    debug: bool = Field(False, description="Tell how the prompt was made and served; for admins.")


class CitationOut(BaseModel):
    """A passage the answer rests on. The document's text from `start` to `end` is `quote`."""

    n: int = Field(description="The passage's number in the prompt, from 1.")
    document_id: str = Field(description="The document.")
    title: str = Field(description="The document's title.")
    page: int | None = Field(description="Page of the chunk, where the document has pages.")
    chunk_id: str = Field(description="The chunk.")
    start: int = Field(description="First character of the quote in the document's text.")
    end: int = Field(description="Character after the quote.")
    quote: str = Field(description="The sentence, as it stands in the document.")
    score: Score = Field(description="Nearness of the chunk to the question; null: no number.")


class Usage(BaseModel):
    """Token counts. Of the fused context: reused + fresh + prefix. null: not known."""

    prompt_tokens: int = Field(description="Tokens of the whole prompt.")
    completion_tokens: int = Field(description="Tokens of the answer.")
    reused_tokens: int | None = Field(description="Context tokens that came from chunk KV.")
    fresh_tokens: int | None = Field(description="Context tokens computed for this request.")
    prefix_tokens: int | None = Field(description="Context tokens from the engine's prefix cache.")


class Timings(BaseModel):
    """Milliseconds; null: that stage did not happen."""

    retrieval_ms: float | None = Field(description="Embedding the question, searching, reranking.")
    load_ms: float | None = Field(description="Reading chunk KV into the engine.")
    select_ms: float | None = Field(description="Choosing the fresh tokens.")
    recompute_ms: float | None = Field(description="Computing the fresh tokens.")
    ttft_ms: float | None = Field(description="From the request's arrival to the first text.")
    total_ms: float = Field(description="From the request's arrival to the end of the answer.")


class MissOut(BaseModel):
    chunk_id: str = Field(description="The chunk that had to be computed.")
    reason: str = Field(description="Why: one of a closed list.")


class CacheOut(BaseModel):
    chunks: int = Field(description="Chunks put before the model.")
    hits: int = Field(description="Chunks whose KV was reused.")
    misses: list[MissOut] = Field(description="Chunks that had to be computed, with the reason.")


class FusionOut(BaseModel):
    used: bool = Field(description="Whether chunk KV was fused into this request.")
    reason: str | None = Field(description="Why not, where it was not.")


class PromptTokens(BaseModel):
    """Tokens of the prompt by part."""

    preamble: int = Field(description="System prompt and introduction.")
    passages: int = Field(description="The chunks.")
    numbers: int = Field(description="The numbers between the chunks.")
    history: int = Field(description="Earlier turns of the conversation.")
    question: int = Field(description="The question, and the chat template behind it.")


class SegmentOut(BaseModel):
    kind: str = Field(description="preamble, chunk, or text: the number before a chunk.")
    start: int = Field(description="First token.")
    end: int = Field(description="Token after the last.")
    readings: list[str] = Field(description="The chunk KV that was looked for, best first.")
    chunk_id: str | None = Field(description="The chunk, where it is one.")
    tier: str | None = Field(description="Where its KV was found.")
    reason: str | None = Field(description="Why it was not; null also where that is not known.")


class DebugOut(BaseModel):
    """How the prompt was made and served."""

    prompt: PromptTokens
    segments: list[SegmentOut] = Field(description="The fused context, in order.")
    policy: str = Field(description="The policy in force.")
    conditioned: bool = Field(description="Whether chunks have two readings.")
    fingerprint: str = Field(description="The model's.")
    cache_salt: str = Field(description="What keeps this request's prefix cache from others'.")
    searched_with: str | None = Field(description="The earlier question that was searched beside this one.")


class AnswerOut(BaseModel):
    """A finished answer."""

    model_config = ConfigDict(json_schema_extra={"examples": [ANSWER]})

    request_id: str = Field(description="Names this request in logs and reports.")
    answer: str = Field(description="The text; passages are marked like [1].")
    status: Status = Field(description="How it ended; truncated: it hit max_tokens; stopped: by the asker.")
    citations: list[CitationOut] = Field(description="The passages the answer rests on.")
    usage: Usage
    timings: Timings
    cache: CacheOut
    model: str = Field(description="The language model.")
    policy: str = Field(description="The policy in force.")
    fusion: FusionOut
    conversation_id: str | None = Field(None, description="The conversation that it belongs to; null: none.")
    debug: DebugOut | None = Field(None, description="Present where it was asked for.")


class MetaEvent(BaseModel):
    request_id: str = Field(description="Names this request.")
    model: str = Field(description="The language model.")
    policy: str = Field(description="The policy in force.")
    conversation_id: str | None = Field(None, description="The conversation that it belongs to; null: none.")


class SourceOut(BaseModel):
    n: int = Field(description="The passage's number in the prompt, from 1.")
    document_id: str = Field(description="The document.")
    title: str = Field(description="The document's title.")
    name: str = Field(description="The document's file name.")
    page: int | None = Field(description="Page of the chunk, where the document has pages.")
    chunk_id: str = Field(description="The chunk.")
    score: Score = Field(description="Nearness to the question; null: no number.")
    text: str = Field(description="The passage.")


class SourcesEvent(BaseModel):
    passages: list[SourceOut] = Field(description="The passages put before the model, best first.")
    retrieval_ms: float = Field(description="Time taken to find them.")


class DeltaEvent(BaseModel):
    text: str = Field(description="The next piece of the answer.")


class StopOut(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"request_id": REQUEST_ID}]})

    request_id: str = Field(description="The answer that is being stopped; its stream ends with `done`.")


EventName = Literal["meta", "sources", "delta", "done", "error"]
