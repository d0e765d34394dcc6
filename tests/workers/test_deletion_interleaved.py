"""A document deleted before and after each single write of reading it in and pre-reading it: nothing of it is left."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime

import pytest

import retrieval.parsing
from app.core.catalog import Document
from retrieval.search import Retriever
from workers.deletion import delete_document
from workers.ingest import ingest
from workers.preread import preread
from workers.tombstones import IN_FLIGHT
from workers.upkeep import reconcile

TENANT = "default"
WRITES = {
    "catalog": [
        "save_parsed",
        "save_chunks",
        "advance",
        "publish_version",
        "attribute_readings",
        "bury_orphans",
        "mark_stale",
        "drop_version",
        "want_readings",
        "tokens_computed",
        "reading_ready",
        "release",
    ],
    "files": ["keep_text", "remove_version"],
    "index": ["upsert", "label", "delete_version"],
    "engine": ["preread"],
    "store": ["put", "delete"],
}


@dataclass
class Steps:
    """Counts the writes of one run, and calls `interrupt` once, before or after the write number `at`."""

    at: int
    before: bool
    interrupt: Callable[[], None]
    seen: list[str] = field(default_factory=list)
    _off: bool = False

    def around(self, name: str, write: Callable) -> Callable:
        def stepped(*args, **kwargs):
            if self._off:
                return write(*args, **kwargs)
            due = len(self.seen) == self.at
            self.seen.append(name)
            if due and self.before:
                self._interrupt()
            try:
                return write(*args, **kwargs)
            finally:
                if due and not self.before:
                    self._interrupt()

        return stepped

    def _interrupt(self) -> None:
        self._off = True
        self.interrupt()
        self._off = False


@pytest.fixture(autouse=True)
def parsed_in_this_process(monkeypatch):
    """A process for each of a hundred runs would only cost time."""
    monkeypatch.setattr(
        "workers.ingest.parse_apart",
        lambda data, name, limits: retrieval.parsing.parse(data, name, limits.characters),
    )


def text_of(number: int, edition: str) -> str:
    return "\n\n".join(
        f"Rule {number}-{n} of the {edition} edition: whoever travels to town {number * n} is paid {n} euros a day."
        for n in range(2)
    )


def work(document: Document, context) -> None:
    if ingest(document.id, context):
        preread(document.id, context)


def interrupted_runs(context, add, monkeypatch, *, before: bool, update: bool, finished: bool):
    """Yields after each run; the last one is not interrupted any more.

    `finished`: repair has finished the deletion, rows and all, by the time the worker goes on.
    """
    first = add("first.md", "It has what all prompts share pre-read, so that all runs are alike.")
    work(first, context)
    delete_document(TENANT, first.id, catalog=context.catalog, purge=context.purge, now=datetime.now(UTC))
    number = 0
    while True:
        document = add(f"travel-{number}.md", text_of(number, "first"))
        if update:
            work(document, context)
            add(document.name, text_of(number, "second"))

        def delete(document_id: str = document.id) -> None:
            now = datetime.now(UTC)
            delete_document(TENANT, document_id, catalog=context.catalog, purge=context.purge, now=now)
            if finished:
                reconcile(context, set(), now)

        steps = Steps(number, before, delete)
        with monkeypatch.context() as patch:
            for part, names in WRITES.items():
                for name in names:
                    place = getattr(context, part)
                    patch.setattr(place, name, steps.around(name, getattr(place, name)))
            work(document, context)
        yield steps, delete
        if number >= len(steps.seen):
            return
        number += 1


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize(
    ("update", "finished"),
    [(False, False), (False, True), (True, True)],
    ids=["of the first version", "of the first version, finished", "of a second version, finished"],
)
def test_a_deletion_at_any_write_leaves_nothing(one_at_a_time, add, leftovers, monkeypatch, before, update, finished):
    context = one_at_a_time
    nothing = {"documents": 0, "vectors": 0, "files": 0, "kv": 0, "staged": 0}
    retriever = Retriever(context.embedder, context.index, context.catalog)
    interrupted: list[str] = []
    runs = interrupted_runs(context, add, monkeypatch, before=before, update=update, finished=finished)
    for steps, delete in runs:
        if len(steps.seen) > len(interrupted):
            interrupted.append(steps.seen[len(interrupted)])
        else:
            assert leftovers()["documents"] == 1, "nothing interrupted it"
            delete()
        assert retriever.retrieve(TENANT, "Who is paid for travelling?", 9, -1.0) == [], steps.seen
        if finished:
            left = leftovers()
            assert (left["documents"], left["vectors"], left["files"]) == (0, 0, 0), (interrupted[-1], steps.seen)
        for moment in (datetime.now(UTC), datetime.now(UTC) + IN_FLIGHT):
            reconcile(context, set(), moment)
        assert leftovers() == nothing, f"deleted {'before' if before else 'after'} {interrupted[-1]} in {steps.seen}"
    expected = {"save_parsed", "save_chunks", "publish_version", "keep_text", "upsert", "want_readings", "put"}
    expected |= {"drop_version", "delete_version", "remove_version"} if update else set()
    assert expected <= set(interrupted), interrupted
    assert interrupted.count("reading_ready") > 1
