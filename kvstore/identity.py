"""What a blob is the KV of."""

import re
from dataclasses import dataclass, fields

from kvstore.errors import BadName, ForeignBlob
from kvstore.key import Reading

_HEX_BYTES = {
    "key": 32,
    "ids_hash": 32,
    "model_fingerprint": 32,
    "preamble_hash": 32,
    "conditioning_hash": 32,
    "profile_id": 16,
}
_OPTIONAL = frozenset({"conditioning_hash", "profile_id"})
_HEX = re.compile(r"[0-9a-f]+")


@dataclass(frozen=True)
class BlobIdentity:
    """Everything that decides whether a blob may be used, as lower-case hex.

    Args:
        key: the store key, 32 bytes.
        ids_hash: `kvstore.key.ids_hash` of the chunk's token ids, 32 bytes.
        model_fingerprint: 32 bytes.
        preamble_hash: `ids_hash` of the preamble the chunk was read behind, 32 bytes.
        reading: opening, or conditioned.
        conditioning_hash: `ids_hash` of the conditioning passage, 32 bytes; empty: none.
        profile_id: 16 bytes; empty: none.
    Raises: BadName on a field that is not hex of its length, is all zeros, or on an opening with a passage.
    """

    key: str
    ids_hash: str
    model_fingerprint: str
    preamble_hash: str
    reading: Reading
    conditioning_hash: str = ""
    profile_id: str = ""

    def __post_init__(self) -> None:
        for name, size in _HEX_BYTES.items():
            text: str = getattr(self, name)
            if name in _OPTIONAL and not text:
                continue
            if len(text) != 2 * size or _HEX.fullmatch(text) is None or not text.strip("0"):
                raise BadName(f"{name} must be {size} bytes of lower-case hex, not all zero; got {text!r}.")
        if self.reading is Reading.OPENING and self.conditioning_hash:
            raise BadName("An opening reading has no conditioning passage.")

    def check(self, expected: "BlobIdentity") -> None:
        """Compare with what is wanted; a passage or profile that `expected` leaves empty is not asked for.

        Raises: ForeignBlob naming the first field that differs.
        """
        for name in (field.name for field in fields(self)):
            found, wanted = getattr(self, name), getattr(expected, name)
            if found != wanted and not (name in _OPTIONAL and not wanted):
                raise ForeignBlob(
                    f"The blob's {name} is {found or 'none'}, not {wanted}.", "It will be pre-read again when needed."
                )


__all__ = ["BlobIdentity"]
