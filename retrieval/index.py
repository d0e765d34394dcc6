"""The index: chunks' vectors and words, and the nearest of them to a question's."""

from collections.abc import Sequence
from dataclasses import dataclass, field
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
class Scope:
    """Where to search: in documents that are among these, are in one of the collections, and have one of the tags.

    None: it does not matter. An empty tuple: none fits, so nothing is found.
    """

    document_ids: tuple[str, ...] | None = None
    collections: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None

    @property
    def empty(self) -> bool:
        return () in (self.document_ids, self.collections, self.tags)


EVERYWHERE = Scope()


@dataclass(frozen=True)
class IndexedChunk:
    """A chunk as it goes into the index; `vector` is as long as the index's dimension.

    `collections` and `tags` are its document's.
    """

    chunk_id: str
    document_id: str
    version_id: str
    tenant: str
    ordinal: int
    text: str
    vector: list[float]
    collections: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class ScoredChunk:
    """A chunk found; `cosine` is the similarity of its vector to the question's, always finite.

    None: its vector is another embedding model's, and it was found by its words.
    """

    chunk_id: str
    document_id: str
    cosine: float | None


@dataclass(frozen=True)
class HeldVersion:
    """A document's version of which the index holds chunks, and the labels that these bear there, in order."""

    tenant: str
    document_id: str
    version_id: str
    collections: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[str, str, str]:
        """Tenant, document and version."""
        return self.tenant, self.document_id, self.version_id


@dataclass(frozen=True)
class Holdings:
    """One page of what the index holds; `after` asks for the next one, None: it was the last."""

    versions: tuple[HeldVersion, ...]
    after: str | None


class ChunkIndex(Protocol):
    """Every call but `holdings` sees one tenant's chunks only.

    What is written, is written when the call returns. All raise IndexUnavailable when the index does not answer, and
    IndexRefused where it does not let us in.
    """

    def check(self, dimension: int) -> None:
        """Whether vectors of so many numbers fit into it. Raises: DimensionMismatch."""
        ...

    def upsert(self, chunks: Sequence[IndexedChunk]) -> None:
        """Add chunks; one that is there already is replaced. Raises: DimensionMismatch."""
        ...

    def delete_document(self, tenant: str, document_id: str) -> None:
        """Remove a document's chunks, of every version. No error if there are none."""
        ...

    def delete_version(self, tenant: str, document_id: str, version_id: str) -> None: ...

    def label(self, tenant: str, document_id: str, collections: Sequence[str], tags: Sequence[str]) -> None:
        """Make these the labels of all chunks of the document, of every version. No error if there are none."""
        ...

    def search(
        self,
        tenant: str,
        question: Question,
        top_k: int,
        scope: Scope = EVERYWHERE,
        mode: SearchMode = SearchMode.HYBRID,
    ) -> list[ScoredChunk]:
        """The `top_k` best chunks in the scope, best first. Raises: DimensionMismatch.

        Fewer than `top_k` are all that there are.
        """
        ...

    def count(self, tenant: str, document_id: str | None = None) -> int: ...

    def holdings(self, after: str | None = None, limit: int = 1000) -> Holdings:
        """What the next `limit` chunks belong to, of whatever tenant; from the beginning without `after`.

        What stays in the index from the first page to the last is in one of them. A version is in as many pages as its
        chunks, and in a page as often as the labels of its chunks differ.
        """
        ...

    def close(self) -> None: ...


class OwnedIndex(ChunkIndex, Protocol):
    """The index in the process that holds it open: with what re-indexing needs (workers/reindex.py).

    New chunks go where today's embedding model and layout put them. Chunks that lie elsewhere are **older**.
    """

    def missing(self, chunk_ids: Sequence[str]) -> set[str]:
        """Those of the chunks that are not there, or only in an older form."""
        ...

    def count_older(self, tenant: str) -> int: ...

    def older_dimensions(self) -> set[int]:
        """How many numbers older vectors have, as far as that is not today's number."""
        ...

    def forget_older(self, tenant: str, document_id: str | None = None) -> None:
        """Remove the tenant's older chunks, or those of a document."""
        ...
