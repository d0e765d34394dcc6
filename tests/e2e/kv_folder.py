"""Chunk KV as it lies on the stack's disk, found through the catalog."""

from pathlib import Path

from preread_client import PrereadClient

from app.core.catalog import Catalog, ChunkRecord
from generator.chat import ModelTokenizer
from generator.identity import chunk_identity
from generator.model_source import resolve_model
from generator.preamble import build_preamble
from kvstore.identity import BlobIdentity
from kvstore.key import Reading


class KvFolder:
    """Looks at the files behind a running stack, and takes some away."""

    def __init__(self, client: PrereadClient) -> None:
        self.settings = client.stack.settings
        self.tokenizer = ModelTokenizer(resolve_model(self.settings))
        self.preamble = build_preamble(self.tokenizer, self.settings)
        self._engine = client.engine
        self._fingerprint = client.engine.get("/preread/status").raise_for_status().json()["fingerprint"]
        self._catalog = Catalog(self.settings.effective_database_url)

    def close(self) -> None:
        self._catalog.close()

    def chunks(self, document_id: str) -> list[ChunkRecord]:
        document = self._catalog.get_document(self.settings.tenant, document_id)
        assert document.current_version_id is not None
        return list(self._catalog.chunks_of(document.current_version_id))

    def chunk(self, chunk_id: str) -> ChunkRecord:
        return self._catalog.chunks_by_id(self.settings.tenant, [chunk_id])[0]

    def identity(self, chunk: ChunkRecord) -> BlobIdentity:
        return chunk_identity(self._fingerprint, self.preamble.ids, chunk.token_ids, Reading.OPENING)

    def blob(self, chunk: ChunkRecord) -> Path:
        """Where the chunk's opening KV lies, if it does."""
        key = self.identity(chunk).key
        return self.settings.effective_kv_dir / self.settings.tenant / key[:2] / f"{key}.kv"

    def evict(self, chunk: ChunkRecord) -> None:
        """Remove the chunk's KV from the disk and from the engine's memory; nobody is told."""
        keys = {"tenant": self.settings.tenant, "keys": [self.identity(chunk).key]}
        self._engine.post("/preread/purge", json=keys).raise_for_status()
        self.blob(chunk).unlink(missing_ok=True)

    def inodes(self) -> dict[str, int]:
        """Every blob's inode: another one where the blob was written anew."""
        return {path.name: path.stat().st_ino for path in self.settings.effective_kv_dir.rglob("*.kv")}
