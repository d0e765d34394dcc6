"""A client of the real application in a real server."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import httpx
import waiting
from scripted_engine import ScriptedEngine

from app.core.access import Principal, Role
from app.web.access.audit import Audit
from app.web.server import WebServer
from app.web.services import Services
from benchmarks.reading_services import worker_context
from kvstore.codecs.codecs import Codecs
from kvstore.profiles import Profiles
from workers.ingest import ingest

DEADLINE_SECONDS = 30
TENANT = "default"
SECRET = "internal-secret-of-the-tests"
PAGES = {
    "travel.md": "# Travel\n\nThe travel meal allowance is 45 euros a day. Trains are booked by the traveller.\n",
    "leave.md": "# Leave\n\nEverybody has 28 days of annual leave. Leave is asked for in the calendar.\n",
    "kitchen.md": "# Kitchen\n\nThe dishwasher runs at noon. Whoever is last at lunch starts it.\n",
}


def admin_of(tenant: str) -> Principal:
    return Principal("key_of_tests", "the tests", tenant, Role.ADMIN, Role.ADMIN.permissions)


wait_until = partial(waiting.wait_until, seconds=DEADLINE_SECONDS)


@dataclass
class Event:
    """`number` is the event's id; None where it has none."""

    name: str
    data: dict[str, Any]
    number: int | None = None


@dataclass
class Web:
    """The real application in a real server, and a client of it."""

    client: httpx.Client
    services: Services
    server: WebServer
    engine: ScriptedEngine

    def add(self, name: str, text: str) -> str:
        answer = self.client.post("/documents", files={"file": (name, text.encode())})
        assert answer.status_code in (200, 201), answer.text
        document_id: str = answer.json()["document"]["id"]
        self.ingest(document_id)
        return document_id

    def ingest(self, document_id: str) -> None:
        """What a worker does, in this process."""
        ingest(document_id, worker_context(self.services, Codecs(Profiles([]))))

    def call(self, function) -> None:
        """Call `function` in the server's event loop."""
        self.server.servers[0].get_loop().call_soon_threadsafe(function)

    def settle(self) -> None:
        """Wait until the answers begun so far have ended, are kept, and their look-ups are counted."""
        wait_until(lambda: not self.live, "no answer is being made")
        drained = self.server.config.app.state.answering.close()
        asyncio.run_coroutine_threadsafe(drained, self.server.servers[0].get_loop()).result(DEADLINE_SECONDS)

    def ask(self, question: str, **more: Any) -> httpx.Response:
        return self.client.post("/ask", json={"question": question, **more})

    def stream(self, question: str, **more: Any) -> list[Event]:
        with self.streaming(question, **more) as events:
            return list(events)

    @contextmanager
    def streaming(self, question: str, **more: Any) -> Iterator[Iterator[Event]]:
        """The events as they come; leaving the block closes the connection."""
        body = {"question": question, "stream": True, **more}
        with self.client.stream("POST", "/ask", json=body) as response:
            assert response.status_code == 200, response.read()
            assert response.headers["content-type"].startswith("text/event-stream")
            yield events_of(response)

    @contextmanager
    def resuming(self, request_id: str, after: int = 0) -> Iterator[Iterator[Event]]:
        headers = {"Last-Event-ID": str(after)}
        with self.client.stream("GET", f"/ask/{request_id}/events", headers=headers) as response:
            assert response.status_code == 200, response.read()
            yield events_of(response)

    @property
    def live(self) -> int:
        """How many answers are being made."""
        return len(self.server.config.app.state.answering.live)


def audit_of(web: Web) -> Audit:
    return Audit(web.services.catalog, TENANT, "key_of_tests", "the tests")


def events_of(response: httpx.Response) -> Iterator[Event]:
    buffer = ""
    for text in response.iter_text():
        buffer += text
        while "\n\n" in buffer:
            frame, buffer = buffer.split("\n\n", 1)
            lines = [line for line in frame.split("\n") if not line.startswith(":")]
            if lines:
                fields = dict(line.split(": ", 1) for line in lines)
                number = int(fields["id"]) if "id" in fields else None
                yield Event(fields["event"], json.loads(fields["data"]), number)
    assert not buffer
