"""Chunks put into the index, with their document's labels."""

from collections.abc import Sequence

from app.core.catalog import Catalog, ChunkRecord
from retrieval.embedding import Embedder
from retrieval.index import ChunkIndex, IndexedChunk

Labels = tuple[tuple[str, ...], tuple[str, ...]]
"""Collections and tags."""


def index_chunks(chunks: Sequence[ChunkRecord], labels: Labels, embedder: Embedder, index: ChunkIndex) -> None:
    """Raises: IndexUnavailable, IndexRefused, DimensionMismatch."""
    collections, tags = labels
    vectors = embedder.embed_texts([chunk.text for chunk in chunks])
    index.upsert(
        [
            IndexedChunk(
                chunk_id=chunk.id,
                document_id=chunk.document_id,
                version_id=chunk.version_id,
                tenant=chunk.tenant,
                ordinal=chunk.ordinal,
                text=chunk.text,
                vector=vector,
                collections=list(collections),
                tags=list(tags),
            )
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]
    )


def settle_labels(tenant: str, document_id: str, written: Labels | None, catalog: Catalog, index: ChunkIndex) -> None:
    """Have the index agree with the catalog about a document's labels, which may change at any moment.

    `written` are those that its chunks bear in the index; None: that is not known. Raises: IndexUnavailable.
    """
    while (wanted := catalog.labels_of(document_id)) != written:
        index.label(tenant, document_id, *wanted)
        written = wanted
