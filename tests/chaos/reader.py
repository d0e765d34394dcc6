"""Questions, each asked until it is answered, and what every answer must be."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

import httpx
from chaos_plan import Way
from findings import Findings
from patience import AskAgain, Patience, accepted
from shelf import Shelf

from app.cli.sse import events

ANSWER_TOKENS = 12
FUSED_POLICY = "impact@.15"
FIELDS: dict[Way, dict[str, Any]] = {
    Way.FUSED: {"policy": FUSED_POLICY},
    Way.FRESH: {"policy": "impact@1"},
    Way.EXACT: {"cache": "off"},
    Way.HANG_UP: {"policy": FUSED_POLICY},
}


@dataclass(frozen=True)
class Answered:
    """`begun`: monotonic seconds."""

    question: str
    way: Way
    begun: float
    passages: Sequence[dict[str, Any]]
    done: dict[str, Any]

    @property
    def whole(self) -> bool:
        """Whether all chunk KV was there."""
        cache = self.done["cache"]
        return bool(cache["chunks"]) and cache["hits"] == cache["chunks"] and bool(self.done["fusion"]["used"])

    @property
    def alike(self) -> tuple[str, ...] | None:
        """Answers of the same must be equal, whatever happened in between. None: it depends on what was missing."""
        texts = [passage["text"] for passage in self.passages]
        if self.way in (Way.EXACT, Way.FRESH):
            return (self.question, "all fresh", *texts)
        return (self.question, FUSED_POLICY, *texts) if self.whole else None


@dataclass
class Reader:
    """May be used by several threads."""

    url: str
    shelf: Shelf
    patience: Patience
    findings: Findings
    headers: Mapping[str, str] = field(default_factory=dict)
    answered: list[Answered] = field(default_factory=list)
    _texts: dict[tuple[str, ...], str] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def ask(self, question: str, way: Way, **fields: Any) -> Answered | None:
        """None after hanging up. Raises Unanswered."""
        begun = time.monotonic()
        with httpx.Client(base_url=self.url, timeout=120, trust_env=False, headers=self.headers) as http:
            answer = self.patience.until_answered(f"asking {question}", lambda: _attempt(http, question, way, fields))
        if answer is None:
            return None
        answered = Answered(question, way, begun, *answer)
        self.examine(answered)
        return answered

    def examine(self, answered: Answered) -> None:
        """All that can be told at once; the answer's documents may be known to the shelf only a moment later."""
        done, check = answered.done, self.findings.check
        about = f"{answered.question!r} ({answered.way}, {done['request_id']})"
        fine = done["status"] in ("answered", "truncated") or (done["status"] == "no_answer" and not done["citations"])
        check("answers end well", fine, f"{about}: {done['status']}")
        gone = {each.document_id for each in self.shelf.gone() if each.at < answered.begun}
        shown = [passage["document_id"] for passage in (*answered.passages, *done["citations"])]
        used = gone.intersection(shown)
        check("answers without deleted documents", not used, f"{about}: {sorted(used)}")
        with self._lock:
            self.answered.append(answered)
            alike = answered.alike
            if alike is not None:
                first = self._texts.setdefault(alike, done["answer"])
                told = f"{about}: {done['answer']!r}, before {first!r}"
                check(f"equal answers, {alike[1]}", done["answer"] == first, told)

    def examine_quotes(self) -> None:
        """Everything shown so far stands in the documents it names, as the client sent them."""
        with self._lock:
            answers, self.answered = self.answered, []
        for answered in answers:
            for passage in answered.passages:
                pages = self.shelf.pages_of(passage["document_id"])
                found = any(passage["text"] in page.text for page in pages)
                self.findings.check("passages stand in their documents", found, _told(answered, passage))
            for citation in answered.done["citations"]:
                pages = self.shelf.pages_of(citation["document_id"])
                start, end = citation["start"], citation["end"]
                found = any(page.text[start:end] == citation["quote"] for page in pages)
                self.findings.check("quotes stand in their documents", found, _told(answered, citation))


def _told(answered: Answered, shown: dict[str, Any]) -> str:
    return f"{answered.question!r} ({answered.way}): {json.dumps(shown)[:400]}"


def _attempt(
    http: httpx.Client, question: str, way: Way, fields: dict[str, Any]
) -> tuple[Sequence[dict[str, Any]], dict[str, Any]] | None:
    body = {"question": question, "stream": True, "max_tokens": ANSWER_TOKENS, **FIELDS[way], **fields}
    passages: Sequence[dict[str, Any]] = []
    with http.stream("POST", "/ask", json=body) as response:
        if response.is_error:
            response.read()
        accepted(response, 200)
        for event in events(response.iter_lines()):
            if event.name == "sources":
                passages = event.data["passages"]
            if event.name == "delta" and way is Way.HANG_UP:
                return None
            if event.name == "error":
                assert event.data["status"] in (502, 503), f"{question!r} ended with {event.data}"
                raise AskAgain(str(event.data["code"]))
            if event.name == "done":
                return passages, event.data
    raise AskAgain("the stream broke off")
