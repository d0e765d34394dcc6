"""A document whose chunk KV is kept, in a catalog and tiers of a test's own."""

import os

import torch

from app.core.catalog import Catalog, DocumentState, NewChunk, WantedReading
from app.core.settings import get_settings
from kvstore.blob import encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.codecs import LOSSLESS
from kvstore.identity import BlobIdentity
from kvstore.key import Reading
from kvstore.tiers.disk import DiskTier
from workers.context import build_store

TENANT = "default"
CHUNKS = range(1, 4)


def named(number: int) -> str:
    """A chunk's hash, and its key."""
    return f"{number:064x}"


def blob(number: int) -> bytes:
    layers = (torch.full((2, 1, 4), float(number), dtype=torch.bfloat16),)
    identity = BlobIdentity(named(number), named(number), "c" * 64, "d" * 64, Reading.OPENING)
    return encode_blob(ChunkKV(layers, layers), identity, LOSSLESS)


class World:
    """A document of three chunks, pre-read."""

    def __init__(self) -> None:
        self.settings = get_settings()
        self.catalog = Catalog(self.settings.effective_database_url)
        self.catalog.migrate()
        document, _ = self.catalog.add_document(TENANT, "travel.md", "a" * 64, "text/plain", 1)
        self.document_id, version = document.id, document.pending_version_id
        assert version
        assert self.catalog.claim(document.id, "worker", 60)
        self.catalog.save_parsed(version, owner="worker", title="", media_type="text/plain", pages=None)
        chunks = [NewChunk(number, "", 0, 1, None, None, [number], named(number)) for number in CHUNKS]
        self.catalog.save_chunks(version, chunks, owner="worker")
        self.catalog.publish_version(document.id, version, owner="worker")
        self.catalog.advance(document.id, "worker", DocumentState.INDEXED)
        wanted = [self.wanted(number) for number in CHUNKS]
        self.catalog.want_readings(document.id, "worker", wanted)
        store = build_store(self.settings)
        for number, reading in zip(CHUNKS, wanted, strict=True):
            store.put(TENANT, blob(number))
            self.catalog.reading_ready(TENANT, reading.key, 1, 1)
        self.catalog.advance(document.id, "worker", DocumentState.PREREAD)
        self.catalog.release(document.id, "worker")

    @property
    def state(self) -> DocumentState:
        return self.catalog.get_document(TENANT, self.document_id).state

    def wanted(self, number: int) -> WantedReading:
        return WantedReading(TENANT, named(number), named(number), "c" * 64, "d" * 64, Reading.OPENING)

    def put_old(self, number: int) -> None:
        """A blob written long ago that no reading knows."""
        DiskTier(self.settings.effective_kv_dir, 10**9).put(TENANT, named(number), blob(number))
        os.utime(self.path(number), (1, 1))

    def path(self, number: int):
        return self.settings.effective_kv_dir / TENANT / "00" / f"{named(number)}.kv"
