"""What the tests ask of a running stack over HTTP."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
from stack import Stack
from waiting import DEADLINE_SECONDS, wait_until

from app.cli.sse import ServerEvent, events
from retrieval.index_wire import PATH, SECRET_HEADER

HANDBOOK = Path(__file__).parents[2] / "examples" / "handbook"


def handbook_page(name: str) -> str:
    return (HANDBOOK / name).read_text()


class InTurn(httpx.HTTPTransport):
    """Each request goes to the next of these webs."""

    def __init__(self, urls: Sequence[str]) -> None:
        super().__init__()
        self._urls = cycle(map(httpx.URL, urls))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        web = next(self._urls)
        request.url = request.url.copy_with(scheme=web.scheme, host=web.host, port=web.port)
        return super().handle_request(request)


@dataclass
class PrereadClient:
    """Speaks to a stack's web processes, to one after the other, and to its engine past them."""

    stack: Stack
    http: httpx.Client = field(init=False)
    engine: httpx.Client = field(init=False)

    def __post_init__(self) -> None:
        webs = InTurn(self.stack.urls)
        self.http = httpx.Client(
            base_url=self.stack.url, timeout=300, trust_env=False, transport=webs, headers=self.stack.headers
        )
        self.engine = httpx.Client(base_url=self.stack.engine_url, timeout=60, trust_env=False)

    def close(self) -> None:
        self.http.close()
        self.engine.close()

    def post(self, question: str, **fields: Any) -> httpx.Response:
        return self.http.post("/ask", json={"question": question, **fields})

    def ask(self, question: str, **fields: Any) -> dict[str, Any]:
        response = self.post(question, **fields)
        assert response.status_code == 200, response.text
        answer: dict[str, Any] = response.json()
        return answer

    @contextmanager
    def streaming(self, question: str, **fields: Any) -> Iterator[Iterator[ServerEvent]]:
        """The events as they come; leaving the block closes the connection."""
        body = {"question": question, "stream": True, **fields}
        with self.http.stream("POST", "/ask", json=body) as response:
            assert response.status_code == 200
            yield events(response.iter_lines())

    def add(self, name: str, text: str) -> str:
        """The id of a document sent just now."""
        response = self.http.post("/documents", files={"file": (name, text.encode())})
        assert response.status_code in (200, 201), response.text
        document_id: str = response.json()["document"]["id"]
        return document_id

    def add_preread(self, name: str, text: str) -> str:
        document_id = self.add(name, text)
        self.wait_until_preread([document_id])
        return document_id

    def document(self, document_id: str) -> dict[str, Any]:
        shown: dict[str, Any] = self.http.get(f"/documents/{document_id}").raise_for_status().json()
        return shown

    def wait_until_preread(self, document_ids: Sequence[str], seconds: float = DEADLINE_SECONDS) -> None:
        def all_preread() -> bool:
            shown = [self.document(document_id) for document_id in document_ids]
            assert not any(document["state"] == "failed" for document in shown), shown
            return all(document["state"] == "preread" for document in shown)

        wait_until(all_preread, "the documents are pre-read", seconds)

    def delete(self, document_id: str) -> None:
        assert self.http.delete(f"/documents/{document_id}").status_code == 204

    def vectors(self, document_id: str) -> int:
        """How many vectors the index has of a document."""
        settings = self.stack.settings
        response = httpx.post(
            self.stack.url + PATH + "count",
            json={"tenant": settings.tenant, "document_id": document_id},
            headers={SECRET_HEADER: settings.internal_secret.get_secret_value()},
            timeout=60,
            trust_env=False,
        )
        count: int = response.raise_for_status().json()["count"]
        return count

    def engine_metric(self, name: str) -> float:
        """A Prometheus metric of vLLM, summed over its labels."""
        lines = self.engine.get("/metrics").raise_for_status().text.splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"{name}{{"))
