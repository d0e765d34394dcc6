"""The index: chunks' vectors and words, and the nearest of them to a question's."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from retrieval.nearness import Question


class SearchMode(StrEnum):
    """By vectors, by words, or by both: with the scores added up (hybrid), or the ranks (rrf)."""

    HYBRID = "hybrid"
    RRF = "rrf"
    DENSE = "dense"
    SPARSE = "sparse"


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
    """A chunk found; `cosine` is the similarity of its vector to the question's, always finite.

    None: its vector is another embedding model's, and it was found by its words.
    """

    chunk_id: str
    document_id: str
    cosine: float | None


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
        self,
        tenant: str,
        question: Question,
        top_k: int,
        document_ids: Sequence[str] | None = None,
        mode: SearchMode = SearchMode.HYBRID,
    ) -> list[ScoredChunk]:
        """The `top_k` best chunks, best first; of these documents only, if given. Raises: DimensionMismatch.

        Fewer than `top_k` are all that there are.
        """
        ...

    def count(self, tenant: str, document_id: str | None = None) -> int: ...
