"""Runs of pre-reading: one open at a time for a tenant, with what is left to be done and what was."""

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, insert, or_, select, update
from sqlalchemy.orm import Session

from app.core.catalog.attempts import PREREAD, fresh_job
from app.core.catalog.database import Database, lock_name
from app.core.catalog.models import StoredDocument, StoredDocumentLookups, StoredRollup, StoredVersion
from app.core.catalog.states import DocumentState, VersionState
from app.core.catalog.work_models import StoredJob, StoredRun, StoredRunDocument
from app.core.catalog.work_records import Asked, Run, RunKind, RunState
from app.core.ids import new_id


class Runs(Database):
    """An open run is a row without an end. Nobody holds it, so nobody's death closes it: whoever works takes its next
    document, by a claim on the document."""

    def asked_documents(self, tenant: str) -> list[Asked]:
        """All published documents with their look-ups, oldest first."""
        query = (
            select(StoredDocument.id, StoredDocumentLookups.hits, StoredDocumentLookups.misses)
            .join(StoredVersion, StoredVersion.document_id == StoredDocument.id)
            .outerjoin(StoredDocumentLookups, StoredDocumentLookups.document_id == StoredDocument.id)
            .where(StoredDocument.tenant == tenant, StoredVersion.state == VersionState.CURRENT)
            .order_by(StoredDocument.created_at, StoredDocument.id)
        )
        with self._read() as session:
            return [Asked(document_id, hits or 0, misses or 0) for document_id, hits, misses in session.execute(query)]

    def start_run(
        self, tenant: str, kind: RunKind, document_ids: Iterable[str], until: datetime | None, *, again: bool = False
    ) -> Run | None:
        """Open a run over these documents, in this order.

        A manual one takes the place of whatever is open, and takes over what that has left; a nightly one that finds
        another open is not opened: None.
        """
        now = self._clock()
        with self._write() as session:
            lock_name(session.connection(), f"run {tenant}")
            open_run = _open(session, tenant)
            wanted = list(dict.fromkeys(document_ids))
            if open_run is not None:
                if kind is RunKind.NIGHTLY:
                    return None
                if open_run.kind == RunKind.MANUAL and open_run.again == again:
                    wanted = list(dict.fromkeys([*wanted, *_left(session, open_run.id)]))
                _end(session, open_run, RunState.STOPPED, "A run by hand took its place.", now)
                session.flush()
            hits, lookups = _counters(session, tenant)
            run = StoredRun(
                id=new_id("run"), tenant=tenant, kind=kind, again=again, state=RunState.RUNNING, reason="",
                started_at=now, until=until, planned=len(wanted), done=0, skipped=0, failed=0, tokens=0, bytes=0,
                reading_microseconds=0, hits_at_start=hits, lookups_at_start=lookups,
                tended=None if kind is RunKind.NIGHTLY else "{}",
            )  # fmt: skip
            session.add(run)
            session.flush()
            rows = [
                {"run_id": run.id, "document_id": document_id, "ordinal": ordinal, "begun": False}
                for ordinal, document_id in enumerate(wanted)
            ]
            if rows:
                session.execute(insert(StoredRunDocument), rows)
            return _record(run)

    def open_run(self, tenant: str) -> Run | None:
        with self._read() as session:
            run = _open(session, tenant)
            return _record(run) if run else None

    def open_runs(self) -> list[Run]:
        """Of all tenants: those by hand first, then the oldest first."""
        query = (
            select(StoredRun)
            .where(StoredRun.ended_at.is_(None))
            .order_by(StoredRun.kind != RunKind.MANUAL, StoredRun.started_at, StoredRun.id)
        )
        with self._read() as session:
            return [_record(run) for run in session.scalars(query)]

    def last_nightly_start(self, tenant: str) -> datetime | None:
        query = select(func.max(StoredRun.started_at)).where(
            StoredRun.tenant == tenant, StoredRun.kind == RunKind.NIGHTLY
        )
        with self._read() as session:
            return session.scalar(query)

    def last_ended_run(self, tenant: str, kind: RunKind) -> Run | None:
        query = (
            select(StoredRun)
            .where(StoredRun.tenant == tenant, StoredRun.kind == kind, StoredRun.ended_at.is_not(None))
            .order_by(StoredRun.started_at.desc())
            .limit(1)
        )
        with self._read() as session:
            run = session.scalar(query)
            return _record(run) if run else None

    def runs(self, tenant: str, limit: int = 20, offset: int = 0) -> list[Run]:
        """Newest first."""
        query = (
            select(StoredRun)
            .where(StoredRun.tenant == tenant)
            .order_by(StoredRun.started_at.desc(), StoredRun.id)
            .limit(limit)
            .offset(offset)
        )
        with self._read() as session:
            return [_record(run) for run in session.scalars(query)]

    def run_count(self, tenant: str) -> int:
        with self._read() as session:
            count = select(func.count()).select_from(StoredRun).where(StoredRun.tenant == tenant)
            return session.scalar(count) or 0

    def run_between(self, tenant: str, run_id: str) -> tuple[Run | None, Run, Run | None] | None:
        """The run that came after it, the run, and the one before it; None: there is no such run."""
        own = select(StoredRun).where(StoredRun.tenant == tenant)
        with self._read() as session:
            run = session.scalar(own.where(StoredRun.id == run_id))
            if run is None:
                return None
            after = own.where(StoredRun.started_at > run.started_at).order_by(StoredRun.started_at)
            before = own.where(StoredRun.started_at < run.started_at).order_by(StoredRun.started_at.desc())
            later, earlier = (session.scalar(each.limit(1)) for each in (after, before))
            return (_record(later) if later else None, _record(run), _record(earlier) if earlier else None)

    def next_of_run(self, run_id: str) -> tuple[str, bool] | None:
        """The first document left that nobody holds and that need not wait, and whether work on it has begun."""
        now = self._clock()
        query = (
            select(StoredRunDocument.document_id, StoredRunDocument.begun)
            .join(StoredDocument, StoredDocument.id == StoredRunDocument.document_id)
            .outerjoin(StoredJob, StoredJob.document_id == StoredDocument.id)
            .where(StoredRunDocument.run_id == run_id)
            .where(or_(StoredDocument.claim_until.is_(None), StoredDocument.claim_until <= now))
            .where(
                or_(
                    StoredJob.due_at.is_(None),
                    StoredJob.due_at <= now,
                    StoredJob.generation != StoredDocument.generation,
                )
            )
            .order_by(StoredRunDocument.ordinal)
            .limit(1)
        )
        with self._read() as session:
            row = session.execute(query).first()
            return (row[0], row[1]) if row else None

    def left_of_run(self, run_id: str) -> list[str]:
        """The documents that are not finished, in order."""
        with self._read() as session:
            return _left(session, run_id)

    def is_to_begin(self, run_id: str, document_id: str) -> bool:
        """Whether the document is left in the run and work on it has not begun."""
        query = select(StoredRunDocument.begun).where(
            StoredRunDocument.run_id == run_id, StoredRunDocument.document_id == document_id
        )
        with self._read() as session:
            return session.scalar(query) is False

    def begin_of_run(self, run_id: str, document_id: str) -> None:
        """Put the document back to where it waits to be pre-read: of a nightly run, by nightly runs alone."""
        now = self._clock()
        with self._write() as session:
            run = session.get(StoredRun, run_id)
            stored = session.get(StoredDocument, document_id, with_for_update=True)
            session.execute(
                update(StoredRunDocument)
                .where(StoredRunDocument.run_id == run_id, StoredRunDocument.document_id == document_id)
                .values(begun=True)
            )
            if run is not None and stored is not None and stored.state == DocumentState.PREREAD:
                stored.state, stored.updated_at = DocumentState.INDEXED, now
                if run.kind == RunKind.NIGHTLY:
                    fresh_job(session, stored, PREREAD, now).night_only = True

    def is_night_only(self, document_id: str) -> bool:
        """Whether the document was put back by a nightly run and has not been asked for since."""
        query = (
            select(StoredJob.night_only)
            .join(StoredDocument, StoredDocument.id == StoredJob.document_id)
            .where(StoredJob.document_id == document_id, StoredJob.generation == StoredDocument.generation)
        )
        with self._read() as session:
            return bool(session.scalar(query))

    def add_to_run(
        self, run_id: str, document_id: str, outcome: str | None, tokens: int, size_bytes: int, seconds: float
    ) -> None:
        """Count a slice of work; `outcome` (done, skipped or failed) ends the document, None leaves it.

        Nothing is counted twice: of two who end the same document the first is heard.
        """
        with self._write() as session:
            run = session.get(StoredRun, run_id, with_for_update=True)
            if run is None:
                return
            run.tokens += tokens
            run.bytes += size_bytes
            run.reading_microseconds += round(1e6 * seconds)
            if outcome is not None and _remove(session, run_id, document_id):
                setattr(run, outcome, getattr(run, outcome) + 1)

    def end_run(self, run_id: str, state: RunState, reason: str = "") -> None:
        """Close it; what has ended stays as it is."""
        with self._write() as session:
            run = session.get(StoredRun, run_id, with_for_update=True)
            if run is not None and run.ended_at is None:
                _end(session, run, state, reason, self._clock())

    def take_tending(self, run_id: str, seconds: float) -> bool:
        """Whether the caller is to do this run's upkeep: it is not done, and nobody has been at it for so long."""
        now = self._clock()
        with self._write() as session:
            run = session.get(StoredRun, run_id, with_for_update=True)
            if run is None or run.tended is not None or (run.tending_until and run.tending_until > now):
                return False
            run.tending_until = now + timedelta(seconds=seconds)
            return True

    def tended(self, run_id: str, found: dict[str, Any]) -> None:
        with self._write() as session:
            session.execute(update(StoredRun).where(StoredRun.id == run_id).values(tended=json.dumps(found)))

    def lookup_counters(self, tenant: str) -> tuple[int, int]:
        """Hits and look-ups, in chunks, of all time."""
        with self._read() as session:
            return _counters(session, tenant)


def _open(session: Session, tenant: str) -> StoredRun | None:
    query = select(StoredRun).where(StoredRun.tenant == tenant, StoredRun.ended_at.is_(None))
    return session.scalar(query.with_for_update())


def _left(session: Session, run_id: str) -> list[str]:
    query = select(StoredRunDocument.document_id).where(StoredRunDocument.run_id == run_id)
    return list(session.scalars(query.order_by(StoredRunDocument.ordinal)))


def _remove(session: Session, run_id: str, document_id: str) -> bool:
    removed = session.scalars(
        delete(StoredRunDocument)
        .where(StoredRunDocument.run_id == run_id, StoredRunDocument.document_id == document_id)
        .returning(StoredRunDocument.document_id)
    )
    return bool(removed.all())


def _end(session: Session, run: StoredRun, state: RunState, reason: str, now: datetime) -> None:
    run.state, run.reason, run.ended_at = state, reason, now
    run.hits_at_end, run.lookups_at_end = _counters(session, run.tenant)
    session.execute(delete(StoredRunDocument).where(StoredRunDocument.run_id == run.id))


def _counters(session: Session, tenant: str) -> tuple[int, int]:
    query = (
        select(StoredRollup.outcome, func.sum(StoredRollup.chunks))
        .where(StoredRollup.tenant == tenant)
        .group_by(StoredRollup.outcome)
    )
    counts = {outcome: int(chunks) for outcome, chunks in session.execute(query)}
    return counts.get("hit", 0), sum(counts.values())


def _record(run: StoredRun) -> Run:
    return Run(
        id=run.id,
        tenant=run.tenant,
        kind=RunKind(run.kind),
        again=run.again,
        state=RunState(run.state),
        reason=run.reason,
        started_at=run.started_at,
        ended_at=run.ended_at,
        until=run.until,
        planned=run.planned,
        done=run.done,
        skipped=run.skipped,
        failed=run.failed,
        tokens=run.tokens,
        bytes=run.bytes,
        reading_seconds=run.reading_microseconds / 1e6,
        hits_at_start=run.hits_at_start,
        lookups_at_start=run.lookups_at_start,
        hits_at_end=run.hits_at_end,
        lookups_at_end=run.lookups_at_end,
        tended=None if run.tended is None else json.loads(run.tended),
    )
