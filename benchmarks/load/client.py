"""A client that asks, listens, and keeps nothing but what came when."""

import json
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpcore

_SECONDS = 600.0
_TIMEOUTS = {"timeout": {"connect": _SECONDS, "read": _SECONDS, "write": _SECONDS, "pool": _SECONDS}}
_OK = 200


@dataclass(frozen=True)
class Heard:
    """What came of one question; seconds since it was due. `status` 0: no answer, and `code` says what went wrong.

    `code` is a problem's; `last` the last event, empty where there was none.
    """

    request_id: str
    status: int
    code: str
    last: str
    ttft_s: float | None
    total_s: float


class LoadClient:
    """As many connections as there are questions. `headers` go with each."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        self._url = f"{url}/ask"
        self._headers = {"Host": "localhost", "Content-Type": "application/json", **(headers or {})}
        self._pool = httpcore.AsyncConnectionPool(max_connections=None, max_keepalive_connections=100)

    async def aclose(self) -> None:
        await self._pool.aclose()

    async def ask(self, question: str, due: float, **more: Any) -> Heard:
        """Streamed. `due` is a `perf_counter` time: that it was sent later counts too."""
        heard = _Listening(due)
        body = json.dumps({"question": question, "stream": True, **more}).encode()
        headers = [*self._headers.items(), ("Content-Length", str(len(body)))]
        try:
            async with self._pool.stream(
                "POST", self._url, headers=headers, content=body, extensions=_TIMEOUTS
            ) as response:
                heard.status = response.status
                if response.status != _OK:
                    heard.problem(await response.aread())
                else:
                    async for name, data in _events(response):
                        heard.event(name, data)
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            heard.code = type(error).__name__
        return heard.heard()


class _Listening:
    def __init__(self, due: float) -> None:
        self._due = due
        self._request_id = ""
        self.status = 0
        self.code = ""
        self._last = ""
        self._first: float | None = None

    def event(self, name: str, data: str) -> None:
        self._last = name
        if name == "delta":
            self._first = self._first or time.perf_counter() - self._due
        elif name == "meta":
            self._request_id = json.loads(data)["request_id"]
        elif name == "error":
            self.code = json.loads(data)["code"]

    def problem(self, body: bytes) -> None:
        try:
            self.code = json.loads(body)["code"]
        except (ValueError, KeyError, TypeError):
            self.code = "no_problem_object"

    def heard(self) -> Heard:
        total = time.perf_counter() - self._due
        return Heard(self._request_id, self.status, self.code, self._last, self._first, total)


async def _events(response: httpcore.Response) -> AsyncIterator[tuple[str, str]]:
    """The name and data of each; comments and other fields are left out."""
    buffer = b""
    async for piece in response.aiter_stream():
        buffer += piece
        while b"\n\n" in buffer:
            frame, buffer = buffer.split(b"\n\n", 1)
            fields = {name: data for name, _, data in (line.partition(": ") for line in frame.decode().split("\n"))}
            if "event" in fields:
                yield fields["event"], fields.get("data", "")
