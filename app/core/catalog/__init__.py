"""The catalog: which documents, versions, chunks and readings exist, and what became of every lookup."""

from app.core.catalog.catalog import Catalog
from app.core.catalog.errors import (
    ClaimLost,
    DatabaseUnavailable,
    DocumentGone,
    DocumentNotFound,
    InvalidTransition,
    SchemaError,
    UnstorableText,
    VersionRetired,
    WorkRefused,
)
from app.core.catalog.records import (
    ChunkCounts,
    ChunkRecord,
    CountedReadings,
    Document,
    DocumentPage,
    DocumentRow,
    DocumentTable,
    LookupCount,
    LookupTotals,
    NewChunk,
    ReadingRecord,
    Version,
    WantedReading,
)
from app.core.catalog.states import DocumentState, ReadingState, VersionState

__all__ = [
    "Catalog",
    "ChunkCounts",
    "ChunkRecord",
    "ClaimLost",
    "CountedReadings",
    "DatabaseUnavailable",
    "Document",
    "DocumentGone",
    "DocumentNotFound",
    "DocumentPage",
    "DocumentRow",
    "DocumentState",
    "DocumentTable",
    "InvalidTransition",
    "LookupCount",
    "LookupTotals",
    "NewChunk",
    "ReadingRecord",
    "ReadingState",
    "SchemaError",
    "UnstorableText",
    "Version",
    "VersionRetired",
    "VersionState",
    "WantedReading",
    "WorkRefused",
]
