"""Conversations, answers and feedback as the catalog hands them out and takes them in. Times are UTC-aware."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class Rating(StrEnum):
    UP = "up"
    DOWN = "down"


class FeedbackReason(StrEnum):
    WRONG = "wrong"
    INCOMPLETE = "incomplete"
    NOT_IN_DOCUMENTS = "not_in_documents"
    SLOW = "slow"
    OTHER = "other"


@dataclass(frozen=True)
class Conversation:
    """`turns`: how many there are."""

    id: str
    title: str
    created_at: datetime
    updated_at: datetime
    turns: int


@dataclass(frozen=True)
class ConversationPage:
    """One page, the last used first; `total` counts all pages' conversations."""

    items: tuple[Conversation, ...]
    total: int


@dataclass(frozen=True)
class CitedPlace:
    """Where an answer cites: characters `start` to `end` of the document's text, inside a chunk."""

    n: int
    document_id: str
    chunk_id: str
    page: int | None
    start: int
    end: int
    score: float | None


@dataclass(frozen=True)
class ConversationTurn:
    """`status`: how the answer ended, or failed. `chunk_ids`: what was put before the model."""

    request_id: str
    question: str
    answer: str
    status: str
    chunk_ids: tuple[str, ...]
    citations: tuple[CitedPlace, ...]
    created_at: datetime


@dataclass(frozen=True)
class GivenAnswer:
    """`question`: None unless feedback keeps texts. `ttft_ms`: milliseconds to the first text; None: there was none."""

    request_id: str
    tenant: str
    owner: str
    conversation_id: str | None
    status: str
    policy: str
    created_at: datetime
    ttft_ms: float | None
    question: str | None = None


@dataclass(frozen=True)
class Feedback:
    """What an answer's owner thought of it, the last time."""

    request_id: str
    owner: str
    rating: Rating
    reason: FeedbackReason | None
    comment: str | None
    question: str | None
    rated_at: datetime


@dataclass(frozen=True)
class FeedbackPage:
    """One page, newest first; `total` counts those asked for, `counts` all of the tenant's by rating."""

    items: tuple[Feedback, ...]
    total: int
    counts: dict[Rating, int]
