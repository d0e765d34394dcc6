"""The index: chunks' vectors, and the nearest of them to a question's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class IndexedChunk:
    """A chunk as it goes into the index; `vector` is as long as the index's dimension."""

    chunk_id: str
    document_id: str
    version_id: str
    tenant: str
    ordinal: int
    text: str
    vector: list[float]


@dataclass(frozen=True)
class ScoredChunk:
    """A chunk found; `score` is the cosine similarity, always finite."""

    chunk_id: str
    document_id: str
    score: float


class ChunkIndex(Protocol):
    """Every call sees the tenant's chunks only. All raise IndexUnavailable when the index does not answer."""

    def upsert(self, chunks: Sequence[IndexedChunk]) -> None:
        """Add chunks; one that is there already is replaced. Raises: DimensionMismatch."""
        ...

    def delete_document(self, tenant: str, document_id: str) -> None:
        """Remove a document's chunks, of every version. No error if there are none."""
        ...

    def delete_version(self, tenant: str, document_id: str, version_id: str) -> None: ...

    def search(
        self, tenant: str, vector: Sequence[float], top_k: int, document_ids: Sequence[str] | None = None
    ) -> list[ScoredChunk]:
        """The `top_k` nearest chunks, best first; of these documents only, if given. Raises: DimensionMismatch."""
        ...

    def count(self, tenant: str, document_id: str | None = None) -> int: ...
