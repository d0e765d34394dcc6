"""What a chunk's KV is called: a hash of everything that shaped it."""

from collections.abc import Sequence
from enum import StrEnum
from hashlib import blake2b

import numpy as np

from kvstore.errors import BadTokenIds
from kvstore.names import checked_key

_LARGEST_ID = 2**32 - 1


class Reading(StrEnum):
    """How a chunk was read: right behind the preamble, or behind a conditioning passage too."""

    OPENING = "opening"
    CONDITIONED = "conditioned"


def ids_hash(ids: Sequence[int]) -> str:
    """The name of a token sequence: hex BLAKE2b-256 of the ids as uint32, little-endian.

    Raises: BadTokenIds when an id is negative, over 2**32 - 1, or no integer.
    """
    return blake2b(_packed(ids), digest_size=32, person=b"preread.ids").hexdigest()


def chunk_key(model_fingerprint: str, preamble_ids: Sequence[int], chunk_ids: Sequence[int], reading: Reading) -> str:
    """The store key of one reading of a chunk, 64 hex characters.

    The preamble's own entry has `preamble_ids=[]` and the preamble as `chunk_ids`.

    Raises: BadTokenIds as `ids_hash`.
    """
    digest = blake2b(digest_size=32, person=b"preread.chunk")
    for field in (model_fingerprint.encode(), _packed(preamble_ids), _packed(chunk_ids), Reading(reading).encode()):
        digest.update(len(field).to_bytes(8, "little"))
        digest.update(field)
    return digest.hexdigest()


def compact_key(key: str) -> str:
    """The key of the smaller blob that the chunk KV under `key` may also be stored as. Raises: BadName."""
    return blake2b(bytes.fromhex(checked_key(key)), digest_size=32, person=b"preread.compact").hexdigest()


def _packed(ids: Sequence[int]) -> bytes:
    array = np.asarray(ids)
    if array.size == 0:
        return b""
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise BadTokenIds("Token ids must be one sequence of integers.")
    if array.min() < 0 or array.max() > _LARGEST_ID:
        raise BadTokenIds(f"Token ids must lie in 0..{_LARGEST_ID}; found {array.min()}..{array.max()}.")
    return array.astype("<u4").tobytes()


__all__ = ["Reading", "chunk_key", "compact_key", "ids_hash"]
