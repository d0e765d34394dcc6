"""What the client has been told: which documents are there, in which revision, and which are gone."""

import time
from dataclasses import dataclass
from threading import Lock

from chaos_pages import Page


@dataclass
class Held:
    """`pages`: revisions that may answer, the newest last; those before it until it is published."""

    document_id: str
    pages: list[Page]

    @property
    def page(self) -> Page:
        return self.pages[-1]


@dataclass(frozen=True)
class Gone:
    """`at`: monotonic seconds of the answer to the deletion."""

    document_id: str
    pages: tuple[Page, ...]
    at: float


class Shelf:
    """One thread changes it; others look."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._held: dict[str, Held] = {}
        self._gone: dict[str, Gone] = {}
        self._replaced: list[Page] = []

    def added(self, document_id: str, page: Page) -> None:
        """Raises AssertionError for an id that was deleted before."""
        with self._lock:
            assert document_id not in self._gone, f"{document_id} was deleted and is given out again"
            held = self._held.setdefault(document_id, Held(document_id, []))
            if page not in held.pages[-1:]:
                held.pages.append(page)

    def deleted(self, document_id: str) -> None:
        with self._lock:
            held = self._held.pop(document_id)
            self._gone[document_id] = Gone(document_id, tuple(held.pages), time.monotonic())

    def published(self) -> None:
        """By now every document answers with its newest revision alone."""
        with self._lock:
            for held in self._held.values():
                self._replaced += held.pages[:-1]
                held.pages = held.pages[-1:]

    def held(self) -> list[Held]:
        with self._lock:
            return [Held(each.document_id, list(each.pages)) for each in self._held.values()]

    def gone(self) -> list[Gone]:
        with self._lock:
            return list(self._gone.values())

    def id_of(self, name: str) -> str | None:
        """The document that has this name."""
        return next((each.document_id for each in self.held() if each.page.name == name), None)

    def pages_of(self, document_id: str) -> list[Page]:
        """What its text may be, or was at last; empty for a document nobody was told of."""
        with self._lock:
            known = self._held.get(document_id) or self._gone.get(document_id)
            return list(known.pages) if known else []

    def forbidden_marks(self) -> dict[str, str]:
        """Marks that no file may hold any more, with what they stand for: of deleted documents that are not back with
        the same bytes, and of replaced revisions."""
        present = {page.mark for held in self.held() for page in held.pages}
        with self._lock:
            marks = {page.mark: each.document_id for each in self._gone.values() for page in each.pages}
            marks |= {page.mark: f"{page.name}, revision {page.revision}" for page in self._replaced}
        return {mark: what for mark, what in marks.items() if mark not in present}
