"""A library in an index of its own, searched as the service searches."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.datasets.library import Library, LibraryChunk
from retrieval.embedding import Embedder
from retrieval.index import IndexedChunk, SearchMode
from retrieval.qdrant_index import QdrantIndex
from retrieval.search import Passage, Retriever

_TENANT = "bench"
_EMBED_CHUNKS = 32
_ANY_SCORE = -1.0


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

    def __init__(self, library: Library, embedder: Embedder, index: QdrantIndex) -> None:
        self.documents = sorted({chunk.document for chunk in library.chunks})
        self._records = {chunk.name: _record(chunk) for chunk in library.chunks}
        self._embedder = embedder
        self._index = index
        for start in range(0, len(library.chunks), _EMBED_CHUNKS):
            self._add(library.chunks[start : start + _EMBED_CHUNKS])
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

    def chunks_by_id(self, tenant: str, ids: Sequence[str]) -> list[Record]:
        return [self._records[each] for each in ids] if tenant == _TENANT else []

    def search(
        self, question: str, mode: SearchMode, depth: int, documents: Sequence[str] | None = None
    ) -> tuple[list[Passage], float]:
        """The first `depth` passages, however far, and the milliseconds it took without embedding the question."""
        retriever = Retriever(self, self._index, self, mode)
        began = time.perf_counter()
        passages = retriever.retrieve(_TENANT, question, depth, _ANY_SCORE, documents)
        return passages, 1000 * (time.perf_counter() - began)

    def _add(self, chunks: Sequence[LibraryChunk]) -> None:
        vectors = self._embedder.embed_texts([chunk.text for chunk in chunks])
        self._index.upsert(
            [
                IndexedChunk(chunk.name, chunk.document, "", _TENANT, 0, chunk.text, vector)
                for chunk, vector in zip(chunks, vectors, strict=True)
            ]
        )


@contextmanager
def searched(library: Library, embedder: Embedder, model: str) -> Iterator[SearchedLibrary]:
    with TemporaryDirectory() as folder:
        index = QdrantIndex.open_local(Path(folder), embedder.dimension, model)
        try:
            yield SearchedLibrary(library, embedder, index)
        finally:
            index.close()


def _record(chunk: LibraryChunk) -> Record:
    return Record(chunk.name, chunk.document, chunk.text, chunk.start, chunk.end)
