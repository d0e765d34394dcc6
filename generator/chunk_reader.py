"""Pre-reading of one chunk: through the engine, compressed, into the store."""

from collections.abc import Sequence
from pathlib import Path

from app.core.ids import new_id
from generator.conditioning import ConditioningPassage
from generator.engine import EngineClient
from generator.fusion_request import FusionRequest
from generator.preamble import Preamble
from generator.prompt import chunk_prompt
from kvstore.blob import encode_blob
from kvstore.codec import LOSSLESS
from kvstore.errors import CorruptStaging
from kvstore.identity import BlobIdentity
from kvstore.key import Reading
from kvstore.staging import read_staged, staged_path
from kvstore.store import ChunkStore, Hit


class ChunkReader:
    """Runs beside the engine: they share the staging folder."""

    def __init__(self, engine: EngineClient, store: ChunkStore, staging: Path, preamble: Preamble) -> None:
        self._engine = engine
        self._store = store
        self._staging = staging
        self._preamble = preamble

    def read(
        self,
        tenant: str,
        token_ids: Sequence[int],
        identity: BlobIdentity,
        passage: ConditioningPassage | None = None,
    ) -> int:
        """Put the KV of `token_ids` (a chunk, a number, the neutral passage, the preamble) into the store.

        With a passage it is the conditioned reading behind it, else the opening one. The neutral passage's own KV is
        taken from the store where it is there, so that it is computed once and not for every chunk.

        Returns: the blob's bytes.
        Raises EngineUnavailable, EngineFailed, CorruptStaging, ForeignBlob, TooLarge.
        """
        prompt = (
            chunk_prompt(self._preamble, token_ids, passage.token_ids, passage_stored=not passage.own)
            if passage
            else chunk_prompt(self._preamble, token_ids)
        )
        capture = Reading.CONDITIONED if passage else Reading.OPENING
        request = FusionRequest(new_id("pre"), tenant, "none", prompt.segments, capture)
        staged = staged_path(self._staging, identity.key)
        try:
            self._engine.preread(prompt.token_ids, request)
            try:
                found, kv = read_staged(staged)
            except CorruptStaging:
                # Another worker may have read the same tokens at the same moment and taken the staged file away.
                stored = self._store.get(tenant, identity)
                if not isinstance(stored, Hit):
                    raise
                return len(stored.blob.data)
            found.check(identity)
            data = encode_blob(kv, identity, LOSSLESS)
        finally:
            staged.unlink(missing_ok=True)
        self._store.put(tenant, data)
        return len(data)
