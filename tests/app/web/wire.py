"""Questions whose connection a test opens, and closes when it likes."""

import json
import socket
import threading
from typing import Any

import httpx
from web_harness import DEADLINE_SECONDS, Event, events_of


def sent(client: httpx.Client, question: str, **more: Any) -> socket.socket:
    """Send a question and read nothing; closing the socket is what a client does that leaves."""
    body = json.dumps({"question": question, **more}).encode()
    headers = {**client.headers, "Host": str(client.base_url.host), "Content-Type": "application/json"}
    headers |= {"Content-Length": str(len(body)), "Connection": "keep-alive"}
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    connection = socket.create_connection((client.base_url.host, client.base_url.port), DEADLINE_SECONDS)
    connection.sendall(f"POST /ask HTTP/1.1\r\n{head}\r\n".encode() + body)
    return connection


class Asking:
    """A question in a thread of its own; `answered` waits for what came of it."""

    def __init__(self, client: httpx.Client, question: str, **more: Any) -> None:
        self._base_url, self._headers = client.base_url, client.headers
        self._body = {"question": question, **more}
        self.events: list[Event] = []
        self._response: httpx.Response | None = None
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def answered(self) -> httpx.Response:
        self._thread.join(DEADLINE_SECONDS)
        assert self._response is not None, "nothing has come"
        return self._response

    def _ask(self) -> None:
        with (
            httpx.Client(base_url=self._base_url, headers=self._headers, timeout=DEADLINE_SECONDS) as client,
            client.stream("POST", "/ask", json=self._body) as response,
        ):
            if response.headers["content-type"].startswith("text/event-stream"):
                for event in events_of(response):
                    self.events.append(event)
            else:
                response.read()
            self._response = response
