"""The closed lists of states in the catalog."""

from enum import StrEnum


class DocumentState(StrEnum):
    """What was last finished for a document. It answers questions once a version of it is published."""

    RECEIVED = "received"
    PARSED = "parsed"
    CHUNKED = "chunked"
    INDEXED = "indexed"
    PREREAD = "preread"
    FAILED = "failed"
    DELETING = "deleting"


class VersionState(StrEnum):
    """`pending`: to be ingested; `current`: answers questions; `retired`: its traces are to be removed."""

    PENDING = "pending"
    CURRENT = "current"
    RETIRED = "retired"


class ReadingState(StrEnum):
    """`ready` says that the blob was stored once, not that no tier has evicted it since.

    `stale`: wanted anew, because the passage that its blob was read behind is no longer the right one.
    """

    WANTED = "wanted"
    STALE = "stale"
    READY = "ready"
    FAILED = "failed"


class Gone(StrEnum):
    """What became of a blob that was stored and is in no tier any more."""

    EVICTED = "evicted"
    EXPIRED = "expired"
    CORRUPT = "corrupt"
    STALE_PROFILE = "stale_profile"
