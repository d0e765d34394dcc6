"""Ingest: from a file to chunks that answer questions."""

import logging
from datetime import UTC, datetime, timedelta

from app.core.catalog import (
    Catalog,
    Document,
    DocumentState,
    NewChunk,
    Version,
    VersionState,
    WorkRefused,
)
from app.core.codes import Code
from app.core.errors import PrereadError, SetupError, Unavailable
from kvstore.key import ids_hash
from retrieval.chunking import split
from retrieval.errors import ParserKilled
from retrieval.parsing import ParsedDocument, ParseLimits, parse_apart
from workers.claim import Claim, claimed
from workers.context import WorkerContext
from workers.files import FileMissing
from workers.indexing import Labels, index_chunks, settle_labels
from workers.pieces import own_passages

log = logging.getLogger(__name__)

_EMBED_CHUNKS = 32
_ARRIVAL_SECONDS = 60


def ingest(document_id: str, context: WorkerContext) -> bool:
    """Parse, chunk, embed and index what is new of a document. True: it is ready to be pre-read.

    A file that cannot be used fails the document, with the reason. Raises Unavailable when a part does not answer, and
    SetupError when one is not set up right; the document is then taken up again later. Raises ParserKilled where what
    read the file was ended from outside, which a file may bring about, or nothing of its own.
    """
    with claimed(context.catalog, document_id, context.settings.lease_seconds) as claim:
        if claim is None or claim.document.state in (DocumentState.DELETING, DocumentState.FAILED):
            return False
        try:
            return _ingest(claim, context)
        except WorkRefused as refusal:
            log.info("stopped working on %s: %s", document_id, refusal)
        except (Unavailable, SetupError, ParserKilled):
            raise
        except PrereadError as error:
            _fail(claim, context.catalog, error.code, f"{error.message} {error.hint}".strip())
        except Exception as error:
            log.exception("could not ingest %s", document_id)
            _fail(claim, context.catalog, Code.UNEXPECTED_ERROR, f"Preread could not read this file: {error!r}")
        return False


def _ingest(claim: Claim, context: WorkerContext) -> bool:
    catalog, document = context.catalog, claim.document
    labels: Labels | None = None
    if document.pending_version_id is not None:
        version = catalog.get_version(document.pending_version_id)
        if version is None or not _arrived(version, context):
            return False
        try:
            labels = _index(claim, version, context)
        except WorkRefused:
            _take_back(document, version, context)
            raise
    elif document.state in (DocumentState.INDEXED, DocumentState.PREREAD):
        return document.state is DocumentState.INDEXED
    settle_labels(document.tenant, document.id, labels, catalog, context.index)
    for retired in catalog.retired_versions(document.id):
        claim.check()
        _keep_what_still_fits(document, retired, context)
        context.purge.retired_version(retired)
    catalog.advance(document.id, claim.owner, DocumentState.INDEXED)
    return True


def _keep_what_still_fits(document: Document, retired: Version, context: WorkerContext) -> None:
    """Chunk KV read behind a retired version's text stays where the same text comes before the chunk now."""
    behind = context.catalog.readings_behind(document.tenant, [retired.id])
    now = context.catalog.get_document(document.tenant, document.id).current_version_id
    if behind and now is not None:
        fitting = own_passages(context.catalog.chunks_of(now), context.tokenizer)
        keys = [reading.key for reading in behind if (reading.ids_hash, reading.conditioning_hash) in fitting]
        context.catalog.attribute_readings(document.tenant, keys, now)


def _arrived(version: Version, context: WorkerContext) -> bool:
    """False: web is still moving the file into place. Raises FileMissing once that must have failed."""
    if context.files.has(version.tenant, version.document_id, version.sha256):
        return True
    if datetime.now(UTC) - version.created_at < timedelta(seconds=_ARRIVAL_SECONDS):
        return False
    raise FileMissing("The document's file never arrived.", "Add the document again.")


def _index(claim: Claim, version: Version, context: WorkerContext) -> Labels:
    """Returns: the labels that its chunks bear in the index."""
    catalog, owner, document = context.catalog, claim.owner, claim.document
    data = context.files.read(version.tenant, document.id, version.sha256)
    settings = context.settings
    limits = ParseLimits(settings.parse_seconds, settings.parse_memory_bytes, settings.max_text_characters)
    parsed = parse_apart(data, document.name, limits)
    claim.check()
    context.files.keep_text(version.tenant, document.id, version.sha256, parsed.text)
    catalog.save_parsed(
        version.id, owner=owner, title=parsed.title, media_type=parsed.media_type, pages=len(parsed.pages) or None
    )
    catalog.advance(document.id, owner, DocumentState.PARSED)
    chunks = catalog.save_chunks(version.id, _chunks(parsed, context), owner=owner)
    catalog.advance(document.id, owner, DocumentState.CHUNKED)
    labels = catalog.labels_of(document.id)
    for start in range(0, len(chunks), _EMBED_CHUNKS):
        claim.check()
        index_chunks(chunks[start : start + _EMBED_CHUNKS], labels, context.embedder, context.index)
    # Before these chunks answer anyone: other documents' text must not have shaped them.
    context.purge.foreign_passages(document.tenant, [chunk.ids_hash for chunk in chunks])
    catalog.publish_version(document.id, version.id, owner=owner)
    return labels


def _chunks(parsed: ParsedDocument, context: WorkerContext) -> list[NewChunk]:
    return [
        NewChunk(
            chunk.ordinal, chunk.text, chunk.start, chunk.end, chunk.page, chunk.heading, chunk.token_ids,
            ids_hash(chunk.token_ids),
        )
        for chunk in split(parsed, context.tokenizer, context.settings.chunk_tokens)
    ]  # fmt: skip


def _take_back(document: Document, version: Version, context: WorkerContext) -> None:
    """Remove what was written for a version that has meanwhile been deleted or replaced."""
    now = context.catalog.get_version(version.id)
    if now is None or now.state is VersionState.RETIRED:
        context.index.delete_version(version.tenant, document.id, version.id)
        context.files.remove_version(version.tenant, document.id, version.sha256)


def _fail(claim: Claim, catalog: Catalog, code: str, message: str) -> None:
    try:
        catalog.fail(claim.document.id, claim.owner, code, message)
    except WorkRefused as refusal:
        log.info("%s is no longer worked on: %s", claim.document.id, refusal)
