"""Fetching a document by its URL: allowed hosts only, at public addresses only, within a time and a size."""

import io
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import BinaryIO, cast

import httpcore
import httpx

from app.web.fetching.address import public_addresses
from app.web.fetching.allowed import AllowedHosts
from app.web.fetching.body import decoded
from app.web.fetching.connection import CheckedTransport, Resolve
from app.web.fetching.errors import UrlRefused, UrlUnreachable, UrlUnreadable
from workers.files import FileTooLarge

_MOST_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_HEADERS = {"Accept": "*/*", "Accept-Encoding": "gzip", "User-Agent": "Preread"}


@dataclass(frozen=True)
class Fetched:
    """`media_type` is what the server says, "" if nothing; `body` gives all bytes to whoever reads it once."""

    media_type: str
    body: BinaryIO


@dataclass(frozen=True)
class Fetcher:
    """`seconds` are for one URL with all redirects, `limit_bytes` for what it is when unpacked.

    The time does not hold for looking up names, which has that of the system.
    """

    allowed: AllowedHosts
    seconds: float
    limit_bytes: int
    resolve: Resolve = public_addresses

    @contextmanager
    def fetch(self, url: str) -> Iterator[Fetched]:
        """The document, while the block lasts.

        Raises: the errors of this room, and FileTooLarge; also while the body is read.
        """
        target = self.allowed.check(url)
        deadline = time.monotonic() + self.seconds
        context = httpx.create_ssl_context(trust_env=False)
        with _told(url), closing(CheckedTransport(self.resolve, deadline, context)) as transport:
            for _ in range(_MOST_REDIRECTS + 1):
                asked = httpx.Request("GET", target, headers=_HEADERS)
                with closing(transport.handle_request(asked)) as answer:
                    if answer.status_code not in _REDIRECTS:
                        yield self._document(answer)
                        return
                    target = self.allowed.check(answer.headers.get("location", ""), target)
        raise UrlUnreadable(f"It leads to another URL more than {_MOST_REDIRECTS} times.")

    def _document(self, answer: httpx.Response) -> Fetched:
        if answer.status_code != HTTPStatus.OK:
            raise UrlRefused(f"The answer is {answer.status_code}, not a document.")
        media_type = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        assert isinstance(answer.stream, httpx.SyncByteStream)
        pieces = decoded(answer.stream, answer.headers.get("content-encoding", ""))
        return Fetched(media_type, cast("BinaryIO", _Limited(pieces, self.limit_bytes)))


class _Limited(io.RawIOBase):
    """What the pieces give, to be read like a file. Reading raises FileTooLarge behind the limit."""

    def __init__(self, pieces: Iterator[bytes], limit_bytes: int) -> None:
        self._pieces = pieces
        self._limit = self._left = limit_bytes

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:  # noqa: ARG002
        """The next piece, whatever its size."""
        piece = next((piece for piece in self._pieces if piece), b"")
        self._left -= len(piece)
        if self._left < 0:
            raise FileTooLarge(
                f"The file is larger than {self._limit} bytes.", "PREREAD_MAX_UPLOAD_BYTES sets the limit."
            )
        return piece


@contextmanager
def _told(url: str) -> Iterator[None]:
    try:
        yield
    except httpcore.TimeoutException as error:
        raise UrlUnreachable(f"{url} took too long.", "PREREAD_URL_SECONDS sets the time.") from error
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise UrlUnreachable(f"{url} does not answer: {error}") from error
