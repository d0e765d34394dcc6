"""A library in an index of its own, searched as the service searches."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeVar

from benchmarks.datasets.library import Library, LibraryChunk
from benchmarks.filler import fillers
from retrieval.embedding import Embedder
from retrieval.index import EVERYWHERE, ChunkIndex, IndexedChunk, Scope, SearchMode
from retrieval.qdrant_index import QdrantIndex
from retrieval.reranking import Reranker
from retrieval.search import Passage, Retriever

_TENANT = "bench"
_CHUNKS_AT_ONCE = 32
_ANY_SCORE = -1.0
_T = TypeVar("_T")


@dataclass(frozen=True)
class Record:
    """What the catalog would know of a chunk."""

    id: str
    document_id: str
    text: str
    start: int
    end: int
    document_title: str = ""
    document_name: str = ""
    page: int | None = None
    heading: str | None = None
    token_ids: list[int] = field(default_factory=list)


class SearchedLibrary:
    """`embed_ms` is the median time to embed a question. Questions are embedded once, before they are searched for."""

    def __init__(
        self, library: Library, embedder: Embedder, index: ChunkIndex, scale: int = 0, reranker: Reranker | None = None
    ) -> None:
        """Fills the index, up to `scale` chunks with made-up ones (`fillers`)."""
        self.documents = sorted({chunk.document for chunk in library.chunks})
        self._records: dict[str, Record] = {}
        self._embedder = embedder
        self._index = index
        self._reranker = reranker
        vectors: list[list[float]] = []
        for chunks in batched(library.chunks, _CHUNKS_AT_ONCE):
            vectors += embedder.embed_texts([chunk.text for chunk in chunks])
            self._add(chunks, vectors[-len(chunks) :])
        for filled in batched(fillers(library.chunks, vectors, scale - len(library.chunks)), _CHUNKS_AT_ONCE):
            self._add([each.chunk for each in filled], [each.vector for each in filled])
        self._vectors: dict[str, list[float]] = {}
        times = []
        for question in library.questions:
            began = time.perf_counter()
            self._vectors[question.text] = embedder.embed_query(question.text)
            times.append(1000 * (time.perf_counter() - began))
        self.embed_ms = median(times)

    def embed_query(self, question: str) -> list[float]:
        return self._vectors[question]

    def reads(self, text: str) -> bool:
        return self._embedder.reads(text)

    def chunks_by_id(
        self,
        tenant: str,
        ids: Sequence[str],
        *,
        document_ids: Sequence[str] | None = None,
        collections: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
    ) -> list[Record]:
        """Nothing has labels here."""
        if tenant != _TENANT or collections is not None or tags is not None:
            return []
        found = [self._records[each] for each in ids]
        return found if document_ids is None else [each for each in found if each.document_id in document_ids]

    def search(
        self, question: str, mode: SearchMode, depth: int, documents: Sequence[str] | None = None
    ) -> tuple[list[Passage], float]:
        """The first `depth` passages, however far, and the milliseconds it took without embedding the question."""
        retriever = Retriever(self, self._index, self, mode, reranker=self._reranker)
        scope = EVERYWHERE if documents is None else Scope(document_ids=tuple(documents))
        began = time.perf_counter()
        passages = retriever.retrieve(_TENANT, question, depth, _ANY_SCORE, scope)
        return passages, 1000 * (time.perf_counter() - began)

    def _add(self, chunks: Sequence[LibraryChunk], vectors: Sequence[list[float]]) -> None:
        self._records |= {chunk.name: _record(chunk) for chunk in chunks}
        self._index.upsert(
            [
                IndexedChunk(chunk.name, chunk.document, "", _TENANT, 0, chunk.text, vector)
                for chunk, vector in zip(chunks, vectors, strict=True)
            ]
        )


@contextmanager
def searched(
    library: Library, embedder: Embedder, model: str, scale: int = 0, reranker: Reranker | None = None
) -> Iterator[SearchedLibrary]:
    with TemporaryDirectory() as folder:
        index = QdrantIndex.open_local(Path(folder), embedder.dimension, model)
        try:
            yield SearchedLibrary(library, embedder, index, scale, reranker)
        finally:
            index.close()


def batched(items: Iterable[_T], size: int) -> Iterator[list[_T]]:
    remaining = iter(items)
    while batch := list(islice(remaining, size)):
        yield batch


def _record(chunk: LibraryChunk) -> Record:
    return Record(chunk.name, chunk.document, chunk.text, chunk.start, chunk.end)
