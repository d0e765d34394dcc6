"""Short words for what the catalog's tests set up."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256

from app.core.catalog import Catalog, ChunkRecord, Document, DocumentState, NewChunk, WantedReading

TENANT = "default"


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Library:
    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog

    def add(self, name: str, content: str | None = None, tenant: str = TENANT) -> Document:
        data = (content or name).encode()
        return self.catalog.add_document(tenant, name, sha256(data).hexdigest(), "text/markdown", len(data))[0]

    def chunked(self, document: Document, *texts: str, owner: str = "worker") -> list[ChunkRecord]:
        """The document claimed, and its pending version parsed and chunked."""
        assert self.catalog.claim(document.id, owner, 60)
        assert document.pending_version_id
        self.catalog.save_parsed(
            document.pending_version_id, owner=owner, title=document.name, media_type="text/markdown", pages=None
        )
        chunks = [chunk(ordinal, text) for ordinal, text in enumerate(texts)]
        return self.catalog.save_chunks(document.pending_version_id, chunks, owner=owner)

    def publish(self, document: Document, *texts: str, owner: str = "worker") -> list[ChunkRecord]:
        """The document indexed with these chunks and released."""
        chunks = self.chunked(document, *texts, owner=owner)
        assert document.pending_version_id
        self.catalog.publish_version(document.id, document.pending_version_id, owner=owner)
        self.catalog.advance(document.id, owner, DocumentState.INDEXED)
        self.catalog.release(document.id, owner)
        return chunks

    def preread(self, document: Document, *wanted: WantedReading, size_bytes: int = 100) -> None:
        """These readings ready."""
        assert self.catalog.claim(document.id, "worker", 60)
        self.catalog.want_readings(document.id, "worker", wanted)
        for reading in wanted:
            assert self.catalog.reading_ready(
                reading.tenant, reading.key, 4, size_bytes, reading.passage_version_id
            )
        self.catalog.release(document.id, "worker")


def chunk(ordinal: int, text: str) -> NewChunk:
    token_ids = list(text.encode())
    return NewChunk(ordinal, text, 0, len(text), None, None, token_ids, ids_hash(text))


def ids_hash(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def wanted(text: str, model: str = "model", preamble: str = "preamble", reading: str = "opening") -> WantedReading:
    """A reading of a chunk with this text."""
    key = ids_hash("/".join((text, model, preamble, reading)))
    return WantedReading(TENANT, key, ids_hash(text), model, preamble, reading)


def behind(text: str, passage: str, version_id: str | None = None) -> WantedReading:
    """A conditioned reading of a chunk with this text behind a passage, which is text of that version if of any."""
    return replace(
        wanted(text, reading="conditioned"), conditioning_hash=ids_hash(passage), passage_version_id=version_id
    )
