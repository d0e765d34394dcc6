"""Jobs and runs as the API shows them."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field


class JobOut(BaseModel):
    id: str = Field(description="Identifier.", examples=["preread-doc_4x0kq3m8w2v9c7n5b1hz"])
    task: str = Field(description="ingest, preread or delete.")
    state: str = Field(description="running, waiting, or dead: given up until it is retried.")
    document_id: str = Field(description="The document.")
    document_name: str = Field(description="Its file name.")
    attempts: int = Field(description="Tries since the document reached this stage.")
    reason_code: str | None = Field(description="Why the last try did not end well; null: there was none.")
    reason: str | None = Field(description="The same as a sentence.")
    first_at: datetime = Field(description="When it was first tried, or began to wait.")
    last_at: datetime | None = Field(description="When it was last tried.")
    due_at: datetime | None = Field(description="It is not tried before then; null: at once.")


class JobPageOut(BaseModel):
    items: list[JobOut] = Field(description="One page of jobs: running, waiting, dead.")
    total: int = Field(description="How many there are in all, of the state asked for.")
    counts: dict[str, int] = Field(description="Jobs by state.")
    dropped: dict[str, int] = Field(
        description="Messages that no worker could read or do, by reason, of all time; for the operator's admins."
    )


class RunOut(BaseModel):
    id: str = Field(description="Identifier.", examples=["run_4x0kq3m8w2v9c7n5b1hz"])
    kind: str = Field(description="nightly, or manual: asked for by hand.")
    state: str = Field(description="running, done, or stopped before everything was done.")
    reason: str = Field(description="Why it was stopped; may be empty.")
    started_at: datetime = Field(description="When it began.")
    ended_at: datetime | None = Field(description="When it ended; null: it goes on.")
    until: datetime | None = Field(description="When its window ends; null: it has none.")
    planned: int = Field(description="Documents it was to look at.")
    done: int = Field(description="Documents that were pre-read.")
    skipped: int = Field(description="Documents that lacked nothing, or wait in the queue by themselves.")
    failed: int = Field(description="Documents that have failed.")
    left: int = Field(description="Documents that were not reached.")
    tokens: int = Field(description="Tokens of the readings that were made.")
    bytes: int = Field(description="Bytes of their chunk KV.")
    tokens_per_second: float | None = Field(description="While documents were being read; null: nothing was made.")
    hit_rate_before: float | None = Field(description="Of the look-ups since the run before it; null: no data.")
    hit_rate_after: float | None = Field(description="Of those until the run after it; null: no data.")
    tended: dict[str, Any] | None = Field(description="What upkeep found and did; null: not done yet.")


class RunPageOut(BaseModel):
    items: list[RunOut] = Field(description="One page of runs, newest first.")
    total: int = Field(description="How many there are in all.")
