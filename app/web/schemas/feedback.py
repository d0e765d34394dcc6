"""What users think of answers, as the API takes and shows it."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from app.core.catalog import FeedbackReason, Rating
from app.web.schemas.ask_examples import REQUEST_ID

_FEEDBACK: dict[str, JsonValue] = {
    "request_id": REQUEST_ID,
    "owner": "usr_7f4g9k3w2m6t8r1x5d0s",
    "rating": "down",
    "reason": "incomplete",
    "comment": "It leaves out the hotel.",
    "question": None,
    "rated_at": "2026-03-02T09:31:45Z",
}


class FeedbackIn(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"rating": "down", "reason": "incomplete"}]}
    )

    rating: Rating = Field(description="up or down.")
    reason: FeedbackReason | None = Field(None, description="What was wrong with it.")
    comment: str | None = Field(None, max_length=4000, description="In the user's own words.")


class FeedbackOut(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [_FEEDBACK]})

    request_id: str = Field(description="The answer.")
    owner: str = Field(description="Id of the key or user that asked.")
    rating: Rating = Field(description="up or down.")
    reason: FeedbackReason | None = Field(description="What was wrong with it.")
    comment: str | None = Field(description="In the user's own words.")
    question: str | None = Field(description="The question; kept only with the setting `feedback_keeps_text`.")
    rated_at: datetime = Field(description="When it was last given.")


class FeedbackPageOut(BaseModel):
    model_config = ConfigDict(
        json_schema_extra={"examples": [{"items": [_FEEDBACK], "total": 1, "counts": {"up": 7, "down": 1}}]}
    )

    items: list[FeedbackOut] = Field(description="One page, newest first.")
    total: int = Field(description="How many there are in all, of the rating asked for.")
    counts: dict[str, int] = Field(description="All feedback by rating.")
