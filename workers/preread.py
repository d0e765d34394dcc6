"""Pre-reading: each chunk of a document through the model once a reading, its KV compressed and kept."""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from app.core.catalog import DocumentState, ReadingState, WorkRefused
from generator.chunk_reader import ChunkReading
from generator.errors import EngineFailed
from generator.in_flight import InFlight
from generator.in_force import effective_codec, effective_compact_codec
from kvstore.blob import Blob
from kvstore.codecs.base import Codec
from kvstore.codecs.codecs import LOSSLESS
from kvstore.errors import BadChunkKV, BadName, BadProfile, CorruptStaging, ForeignBlob, TooLarge
from kvstore.store import Hit
from workers.claim import Claim, claimed
from workers.context import WorkerContext
from workers.pieces import Piece, Pieces

log = logging.getLogger(__name__)

SLICE_SECONDS = 30.0

_FEWEST_TIMED = 64  # of fewer tokens a forward's fixed cost would be most


def preread(
    document_id: str,
    context: WorkerContext,
    *,
    slice_seconds: float = SLICE_SECONDS,
    clock: Callable[[], float] = time.monotonic,
) -> bool:
    """Make the readings of an indexed document's chunks that are missing.

    Works for about `slice_seconds`, so that fresh uploads need not wait for a long document. True: there is more to do.
    Raises EngineUnavailable when the engine does not answer, EnginesDiffer when it runs another model than the one that
    answers questions, and NotPurged when what a deletion left under a key that
    is wanted anew cannot be removed everywhere; the document is then taken up again later, and answers exactly so long.
    """
    with claimed(context.catalog, document_id, context.settings.lease_seconds) as claim:
        if claim is None or claim.document.state is not DocumentState.INDEXED:
            return False
        status = context.engine_status()
        if not status.fusion:
            log.info("nothing is pre-read: %s", status.fusion_reason)
            return False
        try:
            return _preread(claim, context, status.fingerprint, clock() + slice_seconds, clock)
        except WorkRefused as refusal:
            log.info("stopped pre-reading %s: %s", document_id, refusal)
            return False
        except (BadName, BadProfile) as error:  # the preset that is set cannot be had
            context.catalog.fail(document_id, claim.owner, "preread_failed", f"{error.message} {error.hint}")
            return False


def _preread(claim: Claim, context: WorkerContext, fingerprint: str, until: float, clock: Callable[[], float]) -> bool:
    catalog, document = context.catalog, claim.document
    assert document.current_version_id is not None
    tenant = document.tenant
    wanted = Pieces(context, fingerprint)
    fixed = wanted.fixed()
    for piece in fixed:
        catalog.want_preamble(piece.wanted(tenant))
    for piece in _missing(tenant, fixed, context):
        # Without it prompts only compute a few tokens more. Chunks are read behind it: it is kept exactly.
        _read_all(claim, [piece], context, LOSSLESS)

    pieces = wanted.of(document, document.current_version_id)
    catalog.want_readings(document.id, claim.owner, [piece.wanted(tenant) for piece in pieces])
    codec = effective_codec(context.settings, fingerprint, context.codecs)
    compact = effective_compact_codec(context.settings, fingerprint, context.codecs)
    missing = _missing(tenant, pieces, context)
    failures, unfinished = _read_all(claim, missing, context, codec, compact, lambda: clock() >= until)
    context.store.settle()  # once the claim has ended its writes are refused
    if unfinished:
        return True
    if failures:
        message = f"{len(failures)} of {len(pieces)} readings of chunks could not be made: {failures[0]}"
        catalog.fail(document.id, claim.owner, "preread_failed", message)
    else:
        catalog.advance(document.id, claim.owner, DocumentState.PREREAD)
    return False


def _missing(tenant: str, pieces: Sequence[Piece], context: WorkerContext) -> list[Piece]:
    """The pieces whose blobs are not in the store. The catalog is told of those that it did not know to be there.

    Blobs read behind another passage than is wanted now are removed first: the engine may hold them in its memory, and
    takes a reading behind whatever passage. So are those that a deletion wanted gone.
    """
    records = context.catalog.readings(tenant, [piece.identity.ids_hash for piece in pieces])
    states = {record.key: record.state for record in records}
    keys = [piece.identity.key for piece in pieces]
    tombstones = context.catalog.standing_tombstones(tenant, keys)
    unusable = {key for key in keys if states.get(key) is ReadingState.STALE}
    unusable |= {tombstone.key for tombstone in tombstones}
    if unusable:
        context.purge.keys(tenant, sorted(unusable))
        context.catalog.revive(tombstones)
    stored = context.store.contains(tenant, keys)
    missing = []
    for piece in pieces:
        key = piece.identity.key
        if key not in stored:
            missing.append(piece)
        elif states.get(key) is not ReadingState.READY:
            found = context.store.get(tenant, piece.identity)
            if isinstance(found, Hit):
                _report(tenant, piece, found.blob, context)
            else:
                missing.append(piece)
    return missing


def _read_all(
    claim: Claim,
    pieces: Sequence[Piece],
    context: WorkerContext,
    codec: Codec,
    compact: Codec | None = None,
    out_of_time: Callable[[], bool] = lambda: False,
) -> tuple[list[str], bool]:
    """Why which pieces could not be pre-read, and whether time ran out before all were begun; at least one is.

    Several are under way at once, so that one is compressed while the engine computes another. What has been begun is
    finished and reported even where another piece ends it all.

    Raises EngineUnavailable: it can be later; WorkRefused, nothing more having been written, once the claim is lost.
    """
    tenant, reader = claim.document.tenant, context.reader
    by_key = {piece.identity.key: piece for piece in pieces}
    problems: list[str | None] = []
    unfinished = False
    with InFlight[str, ChunkReading](context.settings.readings_in_flight) as readings:

        def fence() -> None:
            readings.check()
            claim.check()

        def landed() -> str | None:
            key, made = readings.landed()
            return _outcome(by_key[key], made, tenant, context)

        try:
            for number, piece in enumerate(pieces):
                if readings.full:
                    problems.append(landed())
                claim.check()
                unfinished = number > 0 and out_of_time()
                if unfinished:
                    break
                read = partial(reader.read, tenant, piece.token_ids, piece.identity, piece.passage, codec, compact)
                readings.start(piece.identity.key, partial(read, fence=fence))
            while readings:
                problems.append(landed())
        except Exception:
            while readings:
                with suppress(Exception):  # the first one is told
                    landed()
            raise
    return [problem for problem in problems if problem is not None], unfinished


def _outcome(piece: Piece, made: ChunkReading | BaseException, tenant: str, context: WorkerContext) -> str | None:
    """Why the piece could not be pre-read, None when it was. Raises what is not the piece's own fault."""
    if isinstance(made, (EngineFailed, CorruptStaging, ForeignBlob, TooLarge, BadChunkKV)):
        log.warning("%s was not pre-read: %s", piece.identity.key, made)
        context.catalog.reading_failed(tenant, piece.identity.key, made.message, made.code)
        return made.message
    if isinstance(made, BaseException):
        raise made
    own_passage = piece.passage.token_ids if piece.passage and piece.passage.own else ()
    computed = len(piece.token_ids) + len(own_passage)
    if computed >= _FEWEST_TIMED:
        context.catalog.tokens_computed(tenant, computed, made.seconds)
    _report(tenant, piece, made.blob, context)
    return None


def _report(tenant: str, piece: Piece, blob: Blob, context: WorkerContext) -> None:
    """Tell the catalog, or take the blob back where nobody wants it any more.

    That is so where the document has been deleted meanwhile, and where the blob was read behind the document's own text
    and another document has the chunk by now.
    """
    key, version = piece.identity.key, piece.passage_version_id
    if not context.catalog.reading_ready(
        tenant, key, len(piece.token_ids), len(blob.data), version, blob.bytes_in_16_bits
    ):
        context.purge.take_back(tenant, key)
    elif version is not None:
        context.purge.foreign_passages(tenant, [piece.identity.ids_hash])
