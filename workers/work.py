"""What the tasks do, with everything that they need: loaded once a process, after the fork."""

import logging
import time
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

from app.core.errors import SetupError, Unavailable
from workers import nightly, upkeep
from workers.attempts import Outcome, attempt
from workers.broker import hard_limit_seconds
from workers.context import WorkerContext, get_context
from workers.deletion import finish_deletion_of
from workers.ingest import ingest
from workers.orphans import Orphans
from workers.preread import preread
from workers.sync import sync_next
from workers.tending import tend

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Work:
    context: WorkerContext
    orphans: Orphans = field(default_factory=Orphans)

    def ingest(self, document_id: str) -> None:
        if attempt("ingest", document_id, self.context, lambda: ingest(document_id, self.context)) is Outcome.MORE:
            self.context.waker.wake_preread(document_id)

    def preread(self, document_id: str, priority: int) -> None:
        """A slice of it; the next one waits behind what is more urgent than `priority`."""
        context = self.context
        outcome = attempt(
            "preread", document_id, context, lambda: preread(document_id, context), needs=context.engine.status
        )
        if outcome is Outcome.MORE:
            context.waker.wake_preread(document_id, priority)

    def delete(self, document_id: str) -> None:
        catalog, purge = self.context.catalog, self.context.purge
        try:
            finish_deletion_of(document_id, catalog=catalog, purge=purge, now=datetime.now(UTC))
        except (Unavailable, SetupError) as error:
            log.warning("the deletion of %s waits: %s", document_id, error)

    def run(self) -> None:
        context, now = self.context, datetime.now(UTC)
        run = nightly.run_of_now(context.catalog, context.settings, now)
        if run is None:
            return
        operators = run.tenant == context.settings.tenant
        if operators and context.catalog.take_tending(run.id, hard_limit_seconds(context.settings)):
            context.catalog.tended(run.id, nightly.sync_folders(run, context, now) | tend(context, now))
        try:
            more = nightly.work_on(run, context, datetime.now(UTC), clock=time.monotonic)
        except (Unavailable, SetupError) as error:
            log.warning("the run waits: %s", error)
            return
        if more:
            context.waker.wake_run(nightly.priority_of(run))

    def sync(self) -> None:
        """A slice of the sync that waits longest; the next one comes behind what else was uploaded."""
        try:
            more = sync_next(self.context)
        except Unavailable as error:
            log.warning("the sync waits: %s", error)
            return
        if more and self.context.catalog.has_waiting_sync(self.context.settings.tenant):
            self.context.waker.wake_sync()

    def reconcile(self, queued: Collection[tuple[str, str]]) -> None:
        upkeep.reconcile(self.context, queued, datetime.now(UTC))

    def remove_orphans(self) -> None:
        self.orphans.remove(self.context, datetime.now(UTC))


@lru_cache(maxsize=1)
def get_work() -> Work:
    return Work(get_context())
