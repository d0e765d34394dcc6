"""The bytes of an answer, unpacked, and never more of them than was asked for."""

import zlib
from collections.abc import Iterable, Iterator

from app.web.fetching.errors import UrlUnreadable

_PIECE_BYTES = 1 << 16
_GZIP = 16 + zlib.MAX_WBITS


def decoded(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """Unpack `gzip` pieces by pieces of 64 KiB at most; nothing, or `identity`, is passed on.

    Raises: UrlUnreadable for another encoding, and for one that is damaged or cut off.
    """
    encoding = encoding.strip().lower()
    if encoding in ("", "identity"):
        yield from pieces
        return
    if encoding not in ("gzip", "x-gzip"):
        raise UrlUnreadable(f"The answer is encoded as “{encoding}”, which was not asked for.")
    unpack = zlib.decompressobj(_GZIP)
    for piece in pieces:
        packed = piece
        while packed:
            try:
                yield unpack.decompress(packed, _PIECE_BYTES)
            except zlib.error as error:
                raise UrlUnreadable(f"The answer is packed wrongly: {error}") from error
            packed = unpack.unconsumed_tail
    if not unpack.eof:
        raise UrlUnreadable("The answer was cut off.")
