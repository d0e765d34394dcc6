"""Connections that go to the address that was checked, and that end in time.

httpcore connects to whatever the host's name means at that moment; here the name is looked up once, what it means is
checked, and the connection is made to that. The certificate is still the name's. Every read and write of one fetch has
what is left of its time, so that an answer which drips in does not last for ever.
"""

import ssl
import time
from collections.abc import Callable, Iterable
from typing import Any

import httpcore
import httpx

from app.web.fetching.errors import UrlUnreachable

Resolve = Callable[[str, int], list[str]]
"""The addresses of a host and port, all of them checked; raises what the check raises."""


class CheckedBackend(httpcore.NetworkBackend):
    """`deadline` is a `time.monotonic` time."""

    def __init__(self, resolve: Resolve, deadline: float) -> None:
        self._resolve = resolve
        self._deadline = deadline
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        failure: Exception = UrlUnreachable(f"The host {host} has no address.")
        for address in self._resolve(host, port):
            try:
                stream = self._backend.connect_tcp(
                    address, port, _left(self._deadline, httpcore.ConnectTimeout), local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
            else:
                return _TimedStream(stream, self._deadline)
        raise failure

    def connect_unix_socket(self, path: str, *_: Any, **__: Any) -> httpcore.NetworkStream:
        raise httpcore.ConnectError(f"{path} is not fetched from.")

    def sleep(self, seconds: float) -> None:
        self._backend.sleep(seconds)


class _TimedStream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, deadline: float) -> None:
        self._stream = stream
        self._deadline = deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        return self._stream.read(max_bytes, _left(self._deadline, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._stream.write(buffer, _left(self._deadline, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        left = _left(self._deadline, httpcore.ConnectTimeout)
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class CheckedTransport(httpx.BaseTransport):
    """Requests over a pool of connections that `CheckedBackend` makes; no proxy, whatever the environment says."""

    def __init__(self, resolve: Resolve, deadline: float, ssl_context: ssl.SSLContext) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=ssl_context, network_backend=CheckedBackend(resolve, deadline), max_connections=1
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        asked = httpcore.Request(
            request.method,
            httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            extensions=request.extensions,
        )
        answer = self._pool.handle_request(asked)
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer), request=request)

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Any:
        return self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


def _left(deadline: float, too_late: type[Exception]) -> float:
    """Seconds until then. Raises `too_late` when there are none."""
    left = deadline - time.monotonic()
    if left <= 0:
        raise too_late("The time for this URL is over.")
    return left
