"""One run: pages come, are read, asked about and go, while processes are killed; and what was found."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from random import Random
from typing import Any

import httpx
from chaos_pages import Page
from chaos_plan import Round, Stage, Victim, Way
from findings import Findings
from killed import Killed
from librarian import Librarian
from library_checks import LibraryChecks
from patience import Patience, Unanswered
from reader import Reader
from running_stack import RunningStack
from settling import Settling
from shelf import Shelf
from state import StackState
from victims import kill, processes_of

from app.core.catalog import DocumentState

_READERS = 2
_PAUSE_SECONDS = 0.02
_STAGE_SECONDS = 15.0
_VICTIM_SECONDS = 20.0
_RANKS = (
    DocumentState.RECEIVED,
    DocumentState.PARSED,
    DocumentState.CHUNKED,
    DocumentState.INDEXED,
    DocumentState.PREREAD,
)
_REACHED = {Stage.PARSED: 1, Stage.CHUNKED: 2, Stage.INDEXED: 3}


class ChaosRun:
    """`say` is told what happens, line by line."""

    def __init__(self, stack: RunningStack, pages: Sequence[Page], seed: int, say: Callable[[str], None]) -> None:
        self.findings = Findings()
        self.killed = Killed()
        self.patience = Patience()
        self.settled_seconds: list[float] = []
        self._stack = stack
        self._pages = pages
        self._say = say
        self._draw = Random(seed)
        self._http = httpx.Client(base_url=stack.url, timeout=60, trust_env=False, headers=stack.headers)
        self._state = StackState(stack.settings, self._http)
        self._shelf = Shelf()
        self._librarian = Librarian(stack, pages, self._shelf, self.patience, self.findings)
        self._reader = Reader(stack.url, self._shelf, self.patience, self.findings, stack.headers)
        self._settling = Settling(stack, self._http, self._state, self._shelf, self.findings)
        self._checks = LibraryChecks(stack, self._http, self._state, self._shelf, self.findings)
        self._asking: set[Future[Any]] = set()
        self._wrong_told: set[str] = set()

    def close(self) -> None:
        for part in (self._checks, self._state, self._librarian, self._http):
            part.close()

    def run(self, rounds: Sequence[Round], at_first: int, settle_every: int) -> None:
        """Checks whenever `settle_every` processes have been killed, and at the end. Raises AssertionError where the
        stack does not come up again, and Unanswered where a change was never answered."""
        with ThreadPoolExecutor(1) as changes, ThreadPoolExecutor(_READERS) as questions:
            for page in self._pages[:at_first]:
                changes.submit(self._librarian.add, page).result()
            settled_at = 0
            for each in rounds:
                self._play(each, changes, questions)
                if self.killed.victims.total() - settled_at >= settle_every:
                    settled_at = self.killed.victims.total()
                    self._settle()
            self._settle()
            self._compare_with_new_chunk_kv()

    def _play(self, each: Round, changes: ThreadPoolExecutor, questions: ThreadPoolExecutor) -> None:
        while len(self._asking) >= 2 * _READERS:
            self._collect(wait(self._asking, timeout=1).done)
        change = changes.submit(self._librarian.change, each.change, each.page)
        question = self._pages[each.about].question
        self._asking.add(questions.submit(self._reader.ask, question, each.way))
        reached = self._wait_for(each.stage, change)
        time.sleep(each.delay_seconds)
        for victim in each.victims:
            self._kill(victim)
        self.killed.stages[f"{each.change}, {each.stage}{'' if reached else ' (not reached)'}"] += 1
        self._say(
            f"{each.number}: {each.change}, {each.stage}{'' if reached else ' not reached'} + "
            f"{each.delay_seconds} s: killed {' and '.join(each.victims)}"
        )
        change.result()

    def _wait_for(self, stage: Stage, change: "Future[str | None]") -> bool:
        """Whether the stage was seen in time: others may be read in first."""
        deadline = time.monotonic() + _STAGE_SECONDS
        while stage is not Stage.SENT:
            if change.done() and self._has_reached(stage, change.result()):
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(_PAUSE_SECONDS)
        return True

    def _has_reached(self, stage: Stage, document_id: str | None) -> bool:
        if stage is Stage.ANSWERED or document_id is None:
            return True
        document = self._state.document(document_id)
        if document is None or document.state not in _RANKS:
            return True
        if stage is Stage.READ_IN_PART:
            return document.state is DocumentState.INDEXED and self._state.chunks_ready(document_id) > 0
        return _RANKS.index(document.state) >= _REACHED[stage]

    def _kill(self, victim: Victim) -> None:
        time.sleep(self.killed.wait_seconds(victim))
        deadline = time.monotonic() + _VICTIM_SECONDS
        while not (found := processes_of(victim, self._stack, self._draw)):
            assert time.monotonic() < deadline, f"there is no {victim} to kill"
            time.sleep(_PAUSE_SECONDS)
        kill(found)
        self.killed.note(victim)

    def _settle(self) -> None:
        while self._asking:
            self._collect(wait(self._asking).done)
        self._say("waiting until nothing is left to do")
        seconds = self._settling.settle()
        if seconds is not None:
            self.settled_seconds.append(seconds)
            self._reader.examine_quotes()
            self._shelf.published()
            self._checks.check_all()
            self._ask_in_calm()
        wrong = self.findings.told()
        waited = "something is stuck" if seconds is None else f"settled in {seconds:.0f} s"
        self._say(f"{waited} after {self.killed.victims.total()} kills; {len(wrong)} things wrong so far")
        for line in wrong:
            if line not in self._wrong_told:
                self._say(f"WRONG {line}")
        self._wrong_told.update(wrong)

    def _ask_in_calm(self, count: int = 3) -> None:
        """All three ways of the same few questions; by now no chunk may be missing."""
        held = self._shelf.held()
        for each in self._draw.sample(held, min(count, len(held))):
            for way in (Way.EXACT, Way.FRESH, Way.FUSED):
                self._ask(each.page.question, way)

    def _compare_with_new_chunk_kv(self) -> None:
        """The chunk KV that went through all this serves the answers that newly made chunk KV does."""
        asked = [each.page.question for each in self._shelf.held()[:3]]
        for question in asked:
            self._ask(question, Way.FUSED)
        self._http.post("/precompute", json={"mode": "all"}).raise_for_status()
        self._settling.settle()
        for question in asked:
            self._ask(question, Way.FUSED)

    def _ask(self, question: str, way: Way) -> None:
        asked = self._reader.ask(question, way)
        if way is Way.FUSED:
            cache = asked.done["cache"] if asked else None
            self.findings.check("no chunk KV is missing in calm", bool(asked and asked.whole), f"{question}: {cache}")

    def _collect(self, done: "set[Future[Any]]") -> None:
        self._asking -= done
        for future in done:
            try:
                future.result()
            except (AssertionError, Unanswered) as error:
                self.findings.check("questions are answered", False, repr(error))
            else:
                self.findings.check("questions are answered", True)
