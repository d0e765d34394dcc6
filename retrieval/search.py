"""From a question to the passages that may answer it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from retrieval.index import ChunkIndex, ScoredChunk

_SPARE_CHUNKS = 8


class QueryEmbedder(Protocol):
    def embed_query(self, question: str) -> list[float]: ...


class LiveChunk(Protocol):
    """What a passage needs of the catalog's `ChunkRecord`."""

    @property
    def id(self) -> str: ...
    @property
    def document_id(self) -> str: ...
    @property
    def document_title(self) -> str: ...
    @property
    def document_name(self) -> str: ...
    @property
    def page(self) -> int | None: ...
    @property
    def heading(self) -> str | None: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def text(self) -> str: ...
    @property
    def token_ids(self) -> list[int]: ...


class LiveChunks(Protocol):
    """The part of `app.core.catalog.Catalog` that searching needs."""

    def chunks_by_id(self, tenant: str, ids: Sequence[str]) -> Sequence[LiveChunk]:
        """Those of the chunks that belong to the current version of a live document of the tenant, in any order."""
        ...


@dataclass(frozen=True)
class Passage:
    """A chunk found for a question. `n` counts from 1; `start` and `end` are offsets into the document's text."""

    n: int
    chunk_id: str
    document_id: str
    title: str
    name: str
    page: int | None
    heading: str | None
    start: int
    end: int
    text: str
    token_ids: list[int]
    score: float


class Retriever:
    """Searches the index and believes the catalog: what is deleted, failed or replaced there is never returned."""

    def __init__(self, embedder: QueryEmbedder, index: ChunkIndex, catalog: LiveChunks) -> None:
        self._embedder = embedder
        self._index = index
        self._catalog = catalog

    def retrieve(
        self,
        tenant: str,
        question: str,
        top_k: int,
        min_score: float,
        document_ids: Sequence[str] | None = None,
    ) -> list[Passage]:
        """The `top_k` best live chunks with at least `min_score`, best first; fewer if there are fewer.

        Only of `document_ids`, if given. Raises: what the index raises.
        """
        vector = self._embedder.embed_query(question)
        wanted = top_k + _SPARE_CHUNKS
        while True:
            found = self._index.search(tenant, vector, wanted, document_ids)
            good = [chunk for chunk in found if chunk.score >= min_score]
            passages = self._passages(tenant, good)[:top_k]
            # More to see only if dead chunks took places, and none was too far away.
            if len(passages) == top_k or len(good) < wanted:
                return passages
            wanted *= 4

    def _passages(self, tenant: str, found: Sequence[ScoredChunk]) -> list[Passage]:
        live = {chunk.id: chunk for chunk in self._catalog.chunks_by_id(tenant, [chunk.chunk_id for chunk in found])}
        pairs = [(live[scored.chunk_id], scored.score) for scored in found if scored.chunk_id in live]
        return [
            Passage(
                n=n,
                chunk_id=chunk.id,
                document_id=chunk.document_id,
                title=chunk.document_title,
                name=chunk.document_name,
                page=chunk.page,
                heading=chunk.heading,
                start=chunk.start,
                end=chunk.end,
                text=chunk.text,
                token_ids=chunk.token_ids,
                score=score,
            )
            for n, (chunk, score) in enumerate(pairs, start=1)
        ]
