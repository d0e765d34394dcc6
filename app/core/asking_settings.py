"""Settings of how many questions are answered at once and what is kept of answers: part of `Settings`."""

from pydantic import Field
from pydantic_settings import BaseSettings


class AskingSettings(BaseSettings):
    history_tokens: int = Field(
        1024, ge=0, description="Most tokens of a conversation's earlier turns that are put before a question."
    )
    conversation_days: int = Field(90, ge=1, description="How long a conversation is kept after its last question.")
    resume_seconds: int = Field(
        60, ge=1, le=3600, description="How long an ended answer can be read again, and a resumable one goes on unread."
    )
    feedback_keeps_text: bool = Field(
        False, description="Keep questions with the answers given, for feedback to show; else their ids alone."
    )
    answers_at_once: int = Field(32, ge=1, description="Answers that a web process makes at once; others wait.")
    answers_waiting: int = Field(
        64, ge=0, description="Questions that may wait for that; where more come, some get a 503 at once."
    )
    waiting_seconds: float = Field(20, gt=0, description="Longest that a question waits before it gets a 503.")
    search_threads: int = Field(
        8, ge=1, le=64, description="Threads of a web process that search for questions; nothing else waits for them."
    )
    drain_seconds: float = Field(
        10,
        ge=0,
        le=3600,
        description="How long answers may go on when web is told to stop; it ends at most 5 seconds later, and what "
        "starts it must wait that long.",
    )
