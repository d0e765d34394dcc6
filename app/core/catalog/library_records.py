"""What the catalog hands out about labels and about folders that are kept in step. Times are UTC-aware."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class LabelCount:
    """A collection or tag, and how many documents have it."""

    label: str
    documents: int


@dataclass(frozen=True)
class PendingLabels:
    """A document's labels, which the index is to be told of; `seen` is which change of them this is."""

    tenant: str
    document_id: str
    collections: tuple[str, ...]
    tags: tuple[str, ...]
    seen: int


@dataclass(frozen=True)
class SyncedFile:
    """A file as a sync last took it: `path` within the folder, size in bytes, time of change in nanoseconds.

    `live`: its document is there and not being deleted. `owned`: it is there because of this sync alone.
    """

    path: str
    size: int
    mtime_ns: int
    sha256: str
    document_id: str
    owned: bool
    live: bool


@dataclass(frozen=True)
class Sync:
    """A sync of a folder; `ended_at` is None while it is wanted or under way, and `report` tells how far it is."""

    id: str
    source: str
    dry_run: bool
    remove_many: bool
    asked_at: datetime
    running: bool
    ended_at: datetime | None
    report: dict[str, Any] | None
