"""Pre-reading: each chunk of a document through the model once, its KV compressed and kept."""

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.core.catalog import ChunkRecord, DocumentState, ReadingState, WantedReading, WorkRefused
from generator.errors import EngineFailed
from generator.identity import chunk_identity, piece_identity
from generator.prompt import fixed_pieces
from kvstore.errors import CorruptStaging, TooLarge
from kvstore.identity import BlobIdentity
from kvstore.key import Reading
from kvstore.store import Hit
from workers.claim import Claim, claimed
from workers.context import WorkerContext

log = logging.getLogger(__name__)

SLICE_SECONDS = 30.0


@dataclass(frozen=True)
class _Piece:
    """Something to pre-read, and what its KV will be called."""

    token_ids: Sequence[int]
    identity: BlobIdentity


def preread(
    document_id: str,
    context: WorkerContext,
    *,
    slice_seconds: float = SLICE_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> bool:
    """Pre-read the chunks of an indexed document that have no opening KV yet.

    Works for about `slice_seconds`, so that fresh uploads need not wait for a long document. True: there is more to do.
    Raises EngineUnavailable when the engine does not answer; the document is then taken up again later.
    """
    with claimed(context.catalog, document_id, context.settings.lease_seconds) as claim:
        if claim is None or claim.document.state is not DocumentState.INDEXED:
            return False
        status = context.engine.status()
        if not status.fusion:
            log.info("nothing is pre-read: %s", status.fusion_reason)
            return False
        try:
            return _preread(claim, context, status.fingerprint, clock() + slice_seconds, clock)
        except WorkRefused as refusal:
            log.info("stopped pre-reading %s: %s", document_id, refusal)
            return False


def _preread(
    claim: Claim, context: WorkerContext, fingerprint: str, until: float, clock: Callable[[], float]
) -> bool:
    catalog, document = context.catalog, claim.document
    assert document.current_version_id is not None
    tenant = document.tenant
    fixed = [
        _Piece(ids, piece_identity(fingerprint, context.preamble.ids, ids, Reading.OPENING))
        for ids in fixed_pieces(context.tokenizer, context.preamble, context.settings.top_k)
    ]
    for piece in fixed:
        catalog.want_preamble(_wanted(tenant, piece))
    for piece in _missing(tenant, fixed, context):
        # Without it prompts only compute a few tokens more.
        _try_to_read(tenant, piece, context)

    pieces = _pieces(catalog.chunks_of(document.current_version_id), context, fingerprint)
    catalog.want_readings(document.id, claim.owner, [_wanted(tenant, piece) for piece in pieces])
    failures = []
    for piece in _missing(tenant, pieces, context):
        claim.check()
        if clock() >= until:
            return True
        problem = _try_to_read(tenant, piece, context)
        if problem is not None:
            failures.append(problem)
    if failures:
        message = f"{len(failures)} of {len(pieces)} chunks could not be pre-read: {failures[0]}"
        catalog.fail(document.id, claim.owner, "preread_failed", message)
    else:
        catalog.advance(document.id, claim.owner, DocumentState.PREREAD)
    return False


def _pieces(chunks: Sequence[ChunkRecord], context: WorkerContext, fingerprint: str) -> list[_Piece]:
    pieces = {
        chunk.ids_hash: _Piece(
            chunk.token_ids, chunk_identity(fingerprint, context.preamble.ids, chunk.token_ids, Reading.OPENING)
        )
        for chunk in chunks
    }
    return list(pieces.values())


def _wanted(tenant: str, piece: _Piece) -> WantedReading:
    name = piece.identity
    return WantedReading(
        tenant, name.key, name.ids_hash, name.model_fingerprint, name.preamble_hash, name.reading,
        name.conditioning_hash, name.profile_id,
    )  # fmt: skip


def _missing(tenant: str, pieces: Sequence[_Piece], context: WorkerContext) -> list[_Piece]:
    """The pieces whose blobs are not in the store. The catalog is told of those that it did not know to be there."""
    stored = context.store.contains(tenant, [piece.identity.key for piece in pieces])
    readings = context.catalog.readings(tenant, [piece.identity.ids_hash for piece in pieces])
    ready = {reading.key for reading in readings if reading.state is ReadingState.READY}
    missing = []
    for piece in pieces:
        key = piece.identity.key
        if key not in stored:
            missing.append(piece)
        elif key not in ready:
            found = context.store.get(tenant, piece.identity)
            if isinstance(found, Hit):
                _report(tenant, piece, len(found.blob.data), context)
            else:
                missing.append(piece)
    return missing


def _try_to_read(tenant: str, piece: _Piece, context: WorkerContext) -> str | None:
    """Why the piece could not be pre-read, None when it was. Raises EngineUnavailable: it can be later."""
    try:
        size_bytes = context.reader.read(tenant, piece.token_ids, piece.identity)
    except (EngineFailed, CorruptStaging, TooLarge) as error:
        log.warning("%s was not pre-read: %s", piece.identity.key, error)
        context.catalog.reading_failed(tenant, piece.identity.key, error.message)
        return error.message
    _report(tenant, piece, size_bytes, context)
    return None


def _report(tenant: str, piece: _Piece, size_bytes: int, context: WorkerContext) -> None:
    """Tell the catalog, or take the blob back where its document has been deleted meanwhile."""
    key = piece.identity.key
    if not context.catalog.reading_ready(tenant, key, len(piece.token_ids), size_bytes):
        context.purge.keys(tenant, [key])
