"""Chunk KV as it lies on the stack's disk, found through the catalog; evicted from its KV Redis too, if it has one."""

from pathlib import Path

from preread_client import PrereadClient
from waiting import wait_until

from app.core.catalog import Catalog, ChunkRecord
from generator.chat import ModelTokenizer
from generator.model_source import resolve_model
from generator.preamble import build_preamble
from kvstore.key import Reading, chunk_key
from kvstore.tiers.configured import TierOptions, configured_tiers

BOTH = set(Reading)


class KvFolder:
    """Looks at the files behind a running stack, and takes some away."""

    def __init__(self, client: PrereadClient) -> None:
        self.settings = client.stack.settings
        self.tokenizer = ModelTokenizer(resolve_model(self.settings))
        self.preamble = build_preamble(self.tokenizer, self.settings)
        self._client = client
        self._engine = client.engine
        self._fingerprint = client.engine.get("/preread/status").raise_for_status().json()["fingerprint"]
        self._catalog = Catalog(self.settings.effective_database_url)
        self._tiers = configured_tiers(TierOptions.from_settings(self.settings), "")

    def close(self) -> None:
        self._catalog.close()

    def chunks(self, document_id: str) -> list[ChunkRecord]:
        document = self._catalog.get_document(self.settings.tenant, document_id)
        assert document.current_version_id is not None
        return list(self._catalog.chunks_of(document.current_version_id))

    def chunk(self, chunk_id: str) -> ChunkRecord:
        return self._catalog.chunks_by_id(self.settings.tenant, [chunk_id])[0]

    def blob(self, chunk: ChunkRecord, reading: Reading) -> Path:
        """Where one reading of the chunk lies, if it does."""
        key = self._key(chunk, reading)
        return self.settings.effective_kv_dir / self.settings.tenant / key[:2] / f"{key}.kv"

    def readings(self, chunk: ChunkRecord) -> set[Reading]:
        """The readings of the chunk that lie on the disk."""
        return {reading for reading in Reading if self.blob(chunk, reading).exists()}

    def evict(self, chunk: ChunkRecord, *readings: Reading) -> None:
        """Remove these readings of the chunk, or all, from the tiers and the engine's memory; nobody is told."""
        evicted = readings or tuple(Reading)
        keys = [self._key(chunk, reading) for reading in evicted]
        purged = {"tenant": self.settings.tenant, "keys": keys}
        self._engine.post("/preread/purge", json=purged).raise_for_status()
        for tier in self._tiers:
            for key in keys:
                if tier.name != "disk":
                    tier.delete(self.settings.tenant, key)
        for reading in evicted:
            self.blob(chunk, reading).unlink(missing_ok=True)

    def wait_until_whole(self, chunk: ChunkRecord) -> None:
        """Until both readings are on the disk and the document is pre-read.

        The document's state alone tells too little: it still counts as pre-read until an answer's misses were noted.
        """
        wait_until(lambda: self.readings(chunk) == BOTH, "the chunk's KV is back on disk")
        self._client.wait_until_preread([chunk.document_id])

    def inodes(self) -> dict[str, int]:
        """Every blob's inode: another one where the blob was written anew."""
        return {path.name: path.stat().st_ino for path in self.settings.effective_kv_dir.rglob("*.kv")}

    def _key(self, chunk: ChunkRecord, reading: Reading) -> str:
        return chunk_key(self._fingerprint, self.preamble.ids, chunk.token_ids, reading)
