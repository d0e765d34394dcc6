"""Conversations as the API shows and takes them."""

from datetime import datetime
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from app.web.schemas.ask import CitationOut


class ConversationIn(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"title": "Leave and illness"}]})

    title: Annotated[
        str,
        StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
        Field(description="The new title."),
    ]


class ConversationOut(BaseModel):
    id: str = Field(description="Identifier.", examples=["cnv_4x0kq3m8w2v9c7n5b1hz"])
    title: str = Field(description="Its title; at first the beginning of its first question.")
    created_at: datetime = Field(description="When it was begun.")
    updated_at: datetime = Field(description="When it was last answered in.")
    turns: int = Field(description="How many questions it has.")


class ConversationPageOut(BaseModel):
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
    items: list[TurnOut] = Field(description="One page of turns, oldest first.")
