"""From a question to the passages that may answer it."""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from app.core.request_context import stage
from retrieval.index import EVERYWHERE, ChunkIndex, Scope, ScoredChunk, SearchMode
from retrieval.nearness import Question, nearness
from retrieval.variety import most_varied, without_copies

log = logging.getLogger(__name__)

_SPARE_CHUNKS = 8


class QueryEmbedder(Protocol):
    def embed_query(self, question: str) -> list[float]: ...
    def reads(self, text: str) -> bool: ...


class PassageReranker(Protocol):
    @property
    def candidates(self) -> int:
        """How many passages are worth ordering."""
        ...

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """One for each text, the higher the better."""
        ...


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

    def chunks_by_id(
        self,
        tenant: str,
        ids: Sequence[str],
        *,
        document_ids: Sequence[str] | None = None,
        collections: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
    ) -> Sequence[LiveChunk]:
        """Those of the chunks that answer questions now, in any order.

        They belong to the current version of a live document of the tenant, and that document is now in the `Scope`
        that the three lists make.
        """
        ...


@dataclass(frozen=True)
class Passage:
    """A chunk found for a question. `n` counts from 1; `start` and `end` are offsets into the document's text.

    `score` is its nearness to the question. Passages are ordered by the search, which need not be the order of scores.
    """

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
    """Searches the index and believes the catalog.

    What is deleted, failed, replaced or not in the scope there is never returned, whatever the index says.
    """

    def __init__(
        self,
        embedder: QueryEmbedder,
        index: ChunkIndex,
        catalog: LiveChunks,
        mode: SearchMode = SearchMode.HYBRID,
        diversity: float = 0.0,
        reranker: PassageReranker | None = None,
    ) -> None:
        """`diversity` 0 … 1: how much likeness to better passages counts against a passage; 0: only copies go."""
        self._embedder = embedder
        self._index = index
        self._catalog = catalog
        self._mode = mode
        self._diversity = diversity
        self._reranker = reranker

    def retrieve(
        self,
        tenant: str,
        question: str,
        top_k: int,
        min_score: float,
        scope: Scope = EVERYWHERE,
    ) -> list[Passage]:
        """The `top_k` best live chunks, best first; fewer if there are fewer, copies of better ones left out.

        None where no chunk is as near as `min_score` (`nearness`); chunks not half as near are left out in any case.
        A reranker orders the best of those that are left; where it fails they keep the order of the search.
        A question in a script that the embedding model cannot read is searched by its words alone. Raises: what the
        index raises.
        """
        asked = self._asked(question)
        ordered = max(top_k, self._reranker.candidates if self._reranker else 0)
        wanted = ordered + _SPARE_CHUNKS
        while True:
            with stage("search"):
                found = self._index.search(tenant, asked, wanted, scope, self._mode_for(asked))
                live = self._passages(tenant, asked, found, scope)
            near = [passage for passage in live if passage.score >= min_score / 2]
            passages = without_copies(near)
            # More to see only if dead chunks and copies took places, and none was too far away.
            if len(passages) >= ordered or len(found) < wanted or len(near) < len(live):
                break
            wanted *= 4
        if all(passage.score < min_score for passage in passages):
            return []
        with stage("rerank"):
            passages = self._reranked(question, passages)
        chosen = most_varied(passages, top_k, self._diversity) if self._diversity else passages[:top_k]
        return [replace(passage, n=n) for n, passage in enumerate(chosen, start=1)]

    def _asked(self, question: str) -> Question:
        with stage("embed"):
            vector = self._embedder.embed_query(question)
        if all(map(math.isfinite, vector)):
            return Question(question, vector, self._embedder.reads(question))
        log.warning("the embedding model gave a vector that is no numbers; the question is searched by its words alone")
        return Question(question, [0.0] * len(vector), read=False)

    def _reranked(self, question: str, passages: list[Passage]) -> list[Passage]:
        if self._reranker is None:
            return passages
        best, rest = passages[: self._reranker.candidates], passages[self._reranker.candidates :]
        try:
            scores = self._reranker.scores(question, [passage.text for passage in best])
        except (RuntimeError, ValueError, IndexError) as error:  # what tensors of a wrong size or no memory raise
            log.warning("the reranker failed, the passages keep the order of the search: %s", error)
            return passages
        if not all(map(math.isfinite, scores)):
            log.warning("the reranker gave a score that is no number; the passages keep the order of the search")
            return passages
        return [passage for _, passage in sorted(zip(scores, best, strict=True), key=lambda pair: -pair[0])] + rest

    def _mode_for(self, question: Question) -> SearchMode:
        mixed = self._mode in (SearchMode.HYBRID, SearchMode.RRF)
        return SearchMode.SPARSE if mixed and not question.read else self._mode

    def _passages(self, tenant: str, question: Question, found: Sequence[ScoredChunk], scope: Scope) -> list[Passage]:
        chunks = self._catalog.chunks_by_id(
            tenant,
            [chunk.chunk_id for chunk in found],
            document_ids=scope.document_ids,
            collections=scope.collections,
            tags=scope.tags,
        )
        live = {chunk.id: chunk for chunk in chunks}
        pairs = [(live[scored.chunk_id], scored.cosine) for scored in found if scored.chunk_id in live]
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
                score=nearness(question, chunk.text, cosine),
            )
            for n, (chunk, cosine) in enumerate(pairs, start=1)
        ]
