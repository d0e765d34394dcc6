"""A client of the real application in a real server."""

import asyncio
import json
from collections.abc import Iterator
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
from kvstore.codecs.codecs import Codecs
from kvstore.profiles import Profiles
from workers.context import WorkerContext
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
    name: str
    data: dict[str, Any]


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
        services = self.services
        context = WorkerContext(
            settings=services.settings,
            catalog=services.catalog,
            files=services.files,
            tokenizer=services.tokenizer,
            preamble=services.preamble,
            embedder=services.embedder,
            index=services.index,
            store=services.store,
            engine=services.engine,
            purge=services.purge,
            waker=services.waker,
            codecs=Codecs(Profiles([])),
        )
        ingest(document_id, context)

    def call(self, function) -> None:
        """Call `function` in the server's event loop."""
        self.server.servers[0].get_loop().call_soon_threadsafe(function)

    def settle(self) -> None:
        """Wait until the look-ups of the answers given so far are counted."""
        drained = self.server.config.app.state.answering.close()
        asyncio.run_coroutine_threadsafe(drained, self.server.servers[0].get_loop()).result(DEADLINE_SECONDS)

    def ask(self, question: str, **more: Any) -> httpx.Response:
        return self.client.post("/ask", json={"question": question, **more})

    def stream(self, question: str, **more: Any) -> list[Event]:
        body = {"question": question, "stream": True, **more}
        with self.client.stream("POST", "/ask", json=body) as response:
            assert response.status_code == 200, response.read()
            assert response.headers["content-type"].startswith("text/event-stream")
            return list(events_of(response))


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
                name, data = lines
                yield Event(name.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
    assert not buffer
