"""Which chunk KV a prompt may use, told from its own token ids."""

from collections.abc import Sequence

from generator.fusion_request import FusionRequest, Segment, SegmentKind
from kvstore.identity import BlobIdentity
from kvstore.key import Reading, chunk_key, ids_hash


def chunk_identity(
    fingerprint: str,
    preamble_ids: Sequence[int],
    chunk_ids: Sequence[int],
    reading: Reading,
    passage_ids: Sequence[int] = (),
) -> BlobIdentity:
    """The identity of a chunk's KV; the preamble's own entry has an empty preamble.

    A conditioned reading without `passage_ids` is one behind whatever passage: no prompt asks for a certain one.
    """
    return BlobIdentity(
        key=chunk_key(fingerprint, preamble_ids, chunk_ids, reading),
        ids_hash=ids_hash(chunk_ids),
        model_fingerprint=fingerprint,
        preamble_hash=ids_hash(preamble_ids),
        reading=reading,
        conditioning_hash=ids_hash(passage_ids) if passage_ids else "",
    )


def piece_identity(fingerprint: str, preamble_ids: Sequence[int], ids: Sequence[int], reading: Reading) -> BlobIdentity:
    """The identity of anything pre-read behind the preamble, or of the preamble itself."""
    return chunk_identity(fingerprint, () if tuple(ids) == tuple(preamble_ids) else preamble_ids, ids, reading)


def segment_identities(
    request: FusionRequest, context_ids: Sequence[int], fingerprint: str
) -> list[list[BlobIdentity]]:
    """For each segment the identities that would serve it, best first."""
    preamble = _preamble(request, context_ids)
    return [
        [_identity(fingerprint, preamble, context_ids, segment, reading) for reading in segment.readings]
        for segment in request.segments
    ]


def capture_identity(request: FusionRequest, context_ids: Sequence[int], fingerprint: str) -> BlobIdentity:
    """The identity under which a pre-read request's last segment is staged.

    Of a conditioned reading, whatever stands between preamble and chunk is the passage.
    """
    if request.capture is None:
        raise ValueError("this request captures nothing")
    preamble, target = _preamble(request, context_ids), request.segments[-1]
    chunk = context_ids[target.start : target.end]
    if request.capture is Reading.CONDITIONED:
        passage = context_ids[len(preamble) : target.start]
        return chunk_identity(fingerprint, preamble, chunk, request.capture, passage)
    return _identity(fingerprint, preamble, context_ids, target, request.capture)


def _preamble(request: FusionRequest, context_ids: Sequence[int]) -> Sequence[int]:
    first = request.segments[0] if request.segments else None
    return context_ids[: first.end] if first and first.kind is SegmentKind.PREAMBLE else ()


def _identity(
    fingerprint: str, preamble: Sequence[int], context_ids: Sequence[int], segment: Segment, reading: Reading
) -> BlobIdentity:
    ids = context_ids[segment.start : segment.end]
    return chunk_identity(fingerprint, () if segment.kind is SegmentKind.PREAMBLE else preamble, ids, reading)
