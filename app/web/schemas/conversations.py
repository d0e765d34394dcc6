"""Conversations as the API shows and takes them."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

from app.web.schemas.ask import CitationOut
from app.web.schemas.ask_examples import ANSWER, REQUEST_ID

_CONVERSATION: dict[str, JsonValue] = {
    "id": "cnv_4x0kq3m8w2v9c7n5b1hz",
    "title": "How much is the travel meal allowance?",
    "created_at": "2026-03-02T09:30:10Z",
    "updated_at": "2026-03-02T09:30:12Z",
    "turns": 1,
}
_TURN: dict[str, JsonValue] = {
    "request_id": REQUEST_ID,
    "question": "How much is the travel meal allowance?",
    "answer": ANSWER["answer"],
    "status": "answered",
    "created_at": "2026-03-02T09:30:12Z",
    "citations": ANSWER["citations"],
}


class ConversationIn(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"title": "Leave and illness"}]})

    title: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
        Field(description="The new title."),
    ]


class ConversationOut(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [_CONVERSATION]})

    id: str = Field(description="Identifier.", examples=["cnv_4x0kq3m8w2v9c7n5b1hz"])
    title: str = Field(description="Its title; at first the beginning of its first question.")
    created_at: datetime = Field(description="When it was begun.")
    updated_at: datetime = Field(description="When it was last answered in.")
    turns: int = Field(description="How many questions it has.")


class ConversationPageOut(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_CONVERSATION], "total": 1}]})

    items: list[ConversationOut] = Field(description="One page of your conversations, the last used first.")
    total: int = Field(description="How many there are in all.")


class TurnOut(BaseModel):
    request_id: str = Field(description="The answer's.")
    question: str = Field(description="What was asked.")
    answer: str = Field(description="What was answered, as far as it came.")
    status: str = Field(description="answered, no_answer, stopped, truncated, or failed.")
    created_at: datetime = Field(description="When the answer ended.")
    citations: list[CitationOut] = Field(
        description="The passages it rests on, as far as they still stand in documents that are there."
    )


class ConversationDetailOut(ConversationOut):
    model_config = ConfigDict(json_schema_extra={"examples": [{**_CONVERSATION, "items": [_TURN]}]})

    items: list[TurnOut] = Field(description="One page of turns, oldest first.")
