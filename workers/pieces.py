"""What is pre-read: chunks in their readings, and what prompts share."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.core.catalog import ChunkRecord, Document, WantedReading
from generator.chat import ChatTokenizer
from generator.conditioning import (
    PASSAGE_TOKENS,
    Conditioning,
    ConditioningPassage,
    passages,
    readings_of_every_chunk,
    shared_pieces,
)
from generator.identity import chunk_identity, piece_identity
from generator.in_force import effective_conditioning
from kvstore.identity import BlobIdentity
from kvstore.key import Reading
from workers.context import WorkerContext


@dataclass(frozen=True)
class Piece:
    """Something to pre-read, what its KV will be called, and the passage it is read behind, which is text of
    `passage_version_id` if of any version."""

    token_ids: Sequence[int]
    identity: BlobIdentity
    passage: ConditioningPassage | None = None
    passage_version_id: str | None = None

    def wanted(self, tenant: str) -> WantedReading:
        return wanted_reading(tenant, self.identity, self.passage_version_id)


class Pieces:
    """The pieces that one model needs as things are set now."""

    def __init__(self, context: WorkerContext, fingerprint: str) -> None:
        self._context = context
        self._fingerprint = fingerprint
        conditioning = effective_conditioning(context.settings, fingerprint)
        self._passages = passages(context.tokenizer, conditioning)
        self._of_every_chunk = readings_of_every_chunk(conditioning, context.settings.opening_readings)

    def fixed(self) -> list[Piece]:
        """What all prompts share."""
        context = self._context
        shared = shared_pieces(
            context.tokenizer, context.preamble, context.settings.top_k, self._passages.conditioning
        )
        return [
            self._behind(piece.token_ids, piece.passage) if piece.passage else self._opening(piece.token_ids)
            for piece in shared
        ]

    def of(self, document: Document, version_id: str) -> list[Piece]:
        """Each reading of each chunk of a version, chunk by chunk. A chunk that occurs again is read once."""
        chunks = self._context.catalog.chunks_of(version_id)
        hashes = {chunk.ids_hash for chunk in chunks}
        shared = self._context.catalog.sharing_documents(document.tenant, hashes, excluding=document.id)
        known = {reading.key for reading in self._context.catalog.readings(document.tenant, hashes)}
        pieces: dict[str, Piece] = {}
        for chunk, before in _with_preceding(chunks):
            passage = self._passages.of(before, shared=chunk.ids_hash in shared)
            for piece in (self._opening(chunk.token_ids), self._conditioned(chunk, passage)):
                reading, key = piece.identity.reading, piece.identity.key
                # An opening reading that is not made of every chunk is made of those that an answer wished it of.
                if reading in self._of_every_chunk or (reading is Reading.OPENING and key in known):
                    pieces.setdefault(key, piece)
        return list(pieces.values())

    def _opening(self, ids: Sequence[int]) -> Piece:
        return Piece(ids, piece_identity(self._fingerprint, self._context.preamble.ids, ids, Reading.OPENING))

    def _conditioned(self, chunk: ChunkRecord, passage: ConditioningPassage) -> Piece:
        return self._behind(chunk.token_ids, passage, chunk.version_id if passage.own else None)

    def _behind(self, ids: Sequence[int], passage: ConditioningPassage, version_id: str | None = None) -> Piece:
        preamble = self._context.preamble.ids
        identity = chunk_identity(self._fingerprint, preamble, ids, Reading.CONDITIONED, passage.token_ids)
        return Piece(ids, identity, passage, version_id)


def wanted_reading(tenant: str, name: BlobIdentity, passage_version_id: str | None = None) -> WantedReading:
    """The catalog's record of a reading that is to be made."""
    return WantedReading(
        tenant, name.key, name.ids_hash, name.model_fingerprint, name.preamble_hash, name.reading,
        name.conditioning_hash, name.profile_id, passage_version_id,
    )  # fmt: skip


def own_passages(chunks: Sequence[ChunkRecord], tokenizer: ChatTokenizer) -> set[tuple[str, str]]:
    """The (ids hash, passage's hash) of a version's chunks, each behind the version's own text before it."""
    own = passages(tokenizer, Conditioning.DOCUMENT)
    found: dict[str, str] = {}
    for chunk, before in _with_preceding(chunks):
        found.setdefault(chunk.ids_hash, own.of(before, shared=False).hash)
    return set(found.items())


def _with_preceding(chunks: Sequence[ChunkRecord]) -> Iterator[tuple[ChunkRecord, list[int]]]:
    """Each chunk with the last tokens before it, at most as many as a passage takes."""
    before: list[int] = []
    for chunk in chunks:
        yield chunk, before
        before = [*before, *chunk.token_ids][-PASSAGE_TOKENS:]
