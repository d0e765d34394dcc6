"""Pre-reading of one chunk: through the engine, compressed, into the store."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from app.core.ids import new_id
from generator.conditioning import ConditioningPassage
from generator.engine import EngineClient
from generator.fusion_request import FusionRequest
from generator.preamble import Preamble
from generator.prompt import chunk_prompt
from kvstore.blob import Blob, encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.base import Codec
from kvstore.codecs.codecs import LOSSLESS
from kvstore.errors import BadChunkKV, CorruptStaging, TierDown, TooLarge
from kvstore.identity import BlobIdentity
from kvstore.key import Reading
from kvstore.levels import Level, at_level
from kvstore.staging import read_staged, staged_path
from kvstore.store import ChunkStore, Hit

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class ChunkReading:
    """What was stored, in its first codec, and the seconds that the engine computed for it."""

    blob: Blob
    seconds: float


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
        codec: Codec = LOSSLESS,
        compact: Codec | None = None,
        *,
        fence: Callable[[], object] = lambda: None,
    ) -> ChunkReading:
        """Put the KV of `token_ids` (a chunk, a number, the neutral passage, the preamble) into the store.

        With a passage it is the conditioned reading behind it, else the opening one. The neutral passage's own KV is
        taken from the store where it is there, so that it is computed once and not for every chunk.

        With `compact` it is stored a second time, smaller; what that codec cannot hold is stored once.

        `fence` is called right before each write into a tier. What it raises comes out of here, and nothing is written.

        Raises EngineUnavailable, EngineFailed, CorruptStaging, ForeignBlob, TooLarge, and BadChunkKV for KV that the
        codec cannot hold.
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
            seconds = self._engine.preread(prompt.token_ids, request)
            try:
                found, kv = read_staged(staged)
            except CorruptStaging:
                # Another worker may have read the same tokens at the same moment and taken the staged file away.
                stored = self._store.get(tenant, identity)
                if isinstance(stored, Hit):
                    return ChunkReading(stored.blob, seconds)
                seconds += self._engine.preread(prompt.token_ids, replace(request, request_id=new_id("pre")))
                found, kv = read_staged(staged)
            found.check(identity)
            data = encode_blob(kv, identity, codec)
        finally:
            staged.unlink(missing_ok=True)
        self._store.put(tenant, data, fence)
        if compact is not None:
            self._put_compact(tenant, kv, identity, compact, fence)
        return ChunkReading(Blob.parse(data), seconds)

    def _put_compact(
        self, tenant: str, kv: ChunkKV, identity: BlobIdentity, codec: Codec, fence: Callable[[], object]
    ) -> None:
        try:
            self._store.put(tenant, encode_blob(kv, at_level(identity, Level.COMPACT), codec), fence)
        except (BadChunkKV, TierDown, TooLarge) as error:
            log.warning("%s is stored at one level only: %s", identity.key, error.message)
