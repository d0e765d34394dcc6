"""Chunks put into the index."""

from collections.abc import Sequence

from app.core.catalog import ChunkRecord
from retrieval.embedding import Embedder
from retrieval.index import ChunkIndex, IndexedChunk


def index_chunks(chunks: Sequence[ChunkRecord], embedder: Embedder, index: ChunkIndex) -> None:
    vectors = embedder.embed_texts([chunk.text for chunk in chunks])
    index.upsert(
        [
            IndexedChunk(chunk.id, chunk.document_id, chunk.version_id, chunk.tenant, chunk.ordinal, chunk.text, vector)
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
    )
