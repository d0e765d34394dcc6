"""What users think of answers, as the API takes and shows it."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from app.core.catalog import FeedbackReason, Rating


class FeedbackIn(BaseModel):
    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"rating": "down", "reason": "incomplete"}]}
    )

    rating: Rating = Field(description="up or down.")
    reason: FeedbackReason | None = Field(None, description="What was wrong with it.")
    comment: str | None = Field(None, max_length=4000, description="In the user's own words.")


class FeedbackOut(BaseModel):
    request_id: str = Field(description="The answer.")
    owner: str = Field(description="Id of the key or user that asked.")
    rating: Rating = Field(description="up or down.")
    reason: FeedbackReason | None = Field(description="What was wrong with it.")
    comment: str | None = Field(description="In the user's own words.")
    question: str | None = Field(description="The question; kept only with the setting `feedback_keeps_text`.")
    rated_at: datetime = Field(description="When it was last given.")


class FeedbackPageOut(BaseModel):
    items: list[FeedbackOut] = Field(description="One page, newest first.")
    total: int = Field(description="How many there are in all, of the rating asked for.")
    counts: dict[str, int] = Field(description="All feedback by rating.")
