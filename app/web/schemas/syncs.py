"""Folders that are kept in step, as the API shows them."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field, JsonValue

_SYNC: dict[str, JsonValue] = {
    "id": "syn_4x0kq3m8w2v9c7n5b1hz",
    "folder": "handbook",
    "dry_run": False,
    "remove_many": False,
    "asked_at": "2026-03-02T09:30:00Z",
    "running": False,
    "ended_at": "2026-03-02T09:30:04Z",
    "report": {"files": 40, "unchanged": 38, "added": 1, "changed": 1},
}


class SyncIn(BaseModel):
    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"folder": "handbook", "dry_run": True}]})

    folder: str | None = Field(None, description="One of the folders, by its name; absent: all of them.")
    dry_run: bool = Field(False, description="Only tell what would be done.")
    remove_many: bool = Field(False, description="Remove documents even if most of the folder's files are gone.")


class RefusalOut(BaseModel):
    path: str = Field(description="The file, within the folder.")
    code: str = Field(description="Stable short name of the reason.")
    message: str = Field(description="A sentence for the user.")


class SyncReportOut(BaseModel):
    """Numbers of files, but `renamed`, `removed` and `to_remove` of documents."""

    files: int = Field(0, description="Documents found in the folder.")
    unchanged: int = Field(0, description="Those that are as they were.")
    added: int = Field(0, description="New documents.")
    changed: int = Field(0, description="New versions.")
    known: int = Field(0, description="Bytes that a document had already, by another name.")
    later: int = Field(0, description="Changed while they were read: the next sync takes them.")
    renamed: int = Field(0, description="Documents that took another file's name.")
    removed: int = Field(0, description="Documents removed, their files being gone.")
    to_remove: int = Field(0, description="Documents that would be removed.")
    refused: dict[str, int] = Field({}, description="Files that cannot be documents, by reason.")
    refusals: list[RefusalOut] = Field([], description="The first of them by name.")
    problem: str | None = Field(None, description="Why nothing was removed, or it broke off.")


class SyncOut(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [_SYNC]})

    id: str = Field(description="Identifier.")
    folder: str = Field(description="The folder's name.")
    dry_run: bool = Field(description="Whether it only tells what would be done.")
    remove_many: bool = Field(description="Whether it may remove most of the documents.")
    asked_at: datetime = Field(description="When it was asked for.")
    running: bool = Field(description="Whether a worker is at it.")
    ended_at: datetime | None = Field(description="When it ended; null: it has not.")
    report: SyncReportOut | None = Field(description="What was done, as far as it is; null: nothing yet.")


class SyncListOut(BaseModel):
    model_config = ConfigDict(json_schema_extra={"examples": [{"items": [_SYNC], "folders": ["handbook"]}]})

    items: list[SyncOut] = Field(description="Syncs, newest first; of each folder the last ten.")
    folders: list[str] = Field(description="The folders that are kept in step.")
