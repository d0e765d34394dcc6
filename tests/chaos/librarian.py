"""Changes to the library, each sent until it is answered, and noted as what the client was told."""

from collections.abc import Sequence
from dataclasses import replace

import httpx
from chaos_pages import Page
from chaos_plan import Change
from findings import Findings
from patience import Patience, accepted
from running_stack import RunningStack
from shelf import Shelf


class Librarian:
    """Belongs to one thread. `pages` are those of the plan; their revisions go up here."""

    def __init__(
        self, stack: RunningStack, pages: Sequence[Page], shelf: Shelf, patience: Patience, findings: Findings
    ) -> None:
        self._http = httpx.Client(base_url=stack.url, timeout=60, trust_env=False, headers=stack.headers)
        self._pages = list(pages)
        self._shelf = shelf
        self._patience = patience
        self._findings = findings

    def close(self) -> None:
        self._http.close()

    def change(self, change: Change, place: int) -> str | None:
        """The document that it was about; None: there is nothing more to follow. Raises Unanswered."""
        page = self._pages[place]
        if change is Change.DELETE:
            return self._delete(page)
        if change is Change.READ_AGAIN:
            return self._read_again(page)
        if change is Change.COPY:
            return self._copy(page)
        if change is Change.UPDATE:
            page = self._pages[place] = replace(page, revision=page.revision + 1)
        return self.add(page)

    def add(self, page: Page) -> str:
        known = self._shelf.id_of(page.name)
        document_id = self._send(page.name, page)
        if known is not None:
            told = f"{page.name} was {known}; its new bytes became {document_id}"
            self._findings.check("new bytes under a known name are the same document", document_id == known, told)
        self._shelf.added(document_id, page)
        return document_id

    def _copy(self, page: Page) -> None:
        document_id = self._send(f"copy of {page.name}", page)
        known = self._shelf.id_of(page.name)
        told = f"{page.name} is {known}; its copy became {document_id}"
        self._findings.check("known bytes under a new name are the same document", document_id == known, told)

    def _send(self, name: str, page: Page) -> str:
        def attempt() -> str:
            files = {"file": (name, page.data, "text/markdown")}
            answer = accepted(self._http.post("/documents", files=files), 200, 201)
            return str(answer.json()["document"]["id"])

        return self._patience.until_answered(f"adding {name}", attempt)

    def _delete(self, page: Page) -> None:
        document_id = self._known(page)
        # A try that was killed may have deleted it.
        self._patience.until_answered(
            f"deleting {page.name}", lambda: accepted(self._http.delete(f"/documents/{document_id}"), 204, 404)
        )
        self._shelf.deleted(document_id)

    def _read_again(self, page: Page) -> str:
        document_id = self._known(page)
        body = {"mode": "all", "document_id": document_id}
        self._patience.until_answered(
            f"reading {page.name} again", lambda: accepted(self._http.post("/precompute", json=body), 200, 202)
        )
        return document_id

    def _known(self, page: Page) -> str:
        document_id = self._shelf.id_of(page.name)
        assert document_id is not None, f"the plan takes {page.name} to be there"
        return document_id
