"""Tries of documents' stages, counted before they begin, so that a kill counts too."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from sqlalchemy import and_, delete, or_, select, update
from sqlalchemy.orm import Session

from app.core.catalog.batches import batches
from app.core.catalog.database import Database
from app.core.catalog.documents import live_versions
from app.core.catalog.models import StoredDocument
from app.core.catalog.states import DocumentState, VersionState
from app.core.catalog.text import made_storable
from app.core.catalog.upsert import upsert
from app.core.catalog.work_models import StoredDrop, StoredJob
from app.core.catalog.work_records import Attempt
from app.core.codes import Code

INGEST, PREREAD, DELETE = "ingest", "preread", "delete"

_ENDED = (DocumentState.PREREAD, DocumentState.FAILED, DocumentState.DELETING)
_LOST = Code.WORKER_LOST, "The worker ended in the middle of it: killed, out of memory, or over the hard time limit."
_LONGEST_TEXT = 500


class Attempts(Database):
    def begin_attempt(
        self, document_id: str, task: str, pause: Callable[[int], float], most: int = 1 << 30
    ) -> Attempt | None:
        """Count a try of the document's stage; None where there is nothing to try now.

        So it is when the stage is another one, a worker holds the document, or its pause is not over. One more than
        `most` is not counted: the caller is to give the document up. `pause`: seconds until the next try, after so
        many; they count from now, should this one end without a word.
        """
        now = self._clock()
        with self._write() as session:
            stored = session.get(StoredDocument, document_id, with_for_update=True)
            if stored is None or stage(session, stored) != task:
                return None
            job = valid_job(session, stored, task)
            held = stored.claim_until is not None and stored.claim_until > now
            if held or (job and job.due_at and job.due_at > now):
                return None
            if job is None:
                job = fresh_job(session, stored, task, now)
            before = Attempt(job.attempts + 1, job.reason_code or _LOST[0], job.reason or _LOST[1])
            if job.attempts >= most:
                return before
            job.attempts += 1
            job.last_at = now
            job.due_at = now + timedelta(seconds=pause(job.attempts))
            job.reason_code, job.reason = _LOST
            return before

    def attempt_failed(self, document_id: str, code: str, reason: str) -> None:
        """Note why the try that was begun did not end well."""
        self._update_job(document_id, reason_code=code, reason=made_storable(reason))

    def attempt_waits(self, document_id: str, code: str, reason: str) -> None:
        """The try that was begun does not count: what it needs does not answer."""
        values = {"attempts": StoredJob.attempts - 1, "due_at": None}
        self._update_job(document_id, reason_code=code, reason=made_storable(reason), **values)

    def end_attempt(self, document_id: str) -> None:
        """The try went well, and the next one is the first. What was counted stays where the document has failed for
        good, for whoever looks at the dead letters, and where another worker is at it."""
        now = self._clock()
        with self._write() as session:
            stored = session.get(StoredDocument, document_id, with_for_update=True)
            held = stored is not None and stored.claim_until is not None and stored.claim_until > now
            if stored is None or stored.state == DocumentState.FAILED or held:
                return
            job = valid_job(session, stored, PREREAD)
            if job and job.night_only and stage(session, stored) == PREREAD:
                fresh_job(session, stored, PREREAD, now).night_only = True
            else:
                session.execute(delete(StoredJob).where(StoredJob.document_id == document_id))

    def make_due(self, document_ids: Iterable[str]) -> None:
        """Whatever waits of these documents, for its next try or for the night, need not."""
        due = {"due_at": None, "night_only": False}
        with self._write() as session:
            for batch in batches(document_ids):
                session.execute(update(StoredJob).where(StoredJob.document_id.in_(batch)).values(**due))

    def waiting_for_their_time(self, now: datetime) -> set[str]:
        """The documents, of every tenant, that are not to be tried yet, or by nightly runs alone."""
        query = (
            select(StoredJob.document_id)
            .join(StoredDocument, and_(StoredDocument.id == StoredJob.document_id, _OF_NOW))
            .where(or_(StoredJob.due_at > now, StoredJob.night_only))
        )
        with self._read() as session:
            return set(session.scalars(query))

    def count_dropped(self, reason: str, text: str) -> None:
        """Count a message that no worker could read."""
        with self._write() as session:
            insert = upsert(session, StoredDrop)
            statement = insert.on_conflict_do_update(
                index_elements=["reason"],
                set_={
                    "messages": StoredDrop.messages + 1,
                    "last_at": insert.excluded.last_at,
                    "last_text": insert.excluded.last_text,
                },
            )
            last = made_storable(text)[:_LONGEST_TEXT]
            session.execute(
                statement, {"reason": reason, "messages": 1, "last_at": self._clock(), "last_text": last}
            )

    def dropped_messages(self) -> dict[str, int]:
        """How many messages were dropped, by reason."""
        with self._read() as session:
            return {drop.reason: drop.messages for drop in session.scalars(select(StoredDrop))}

    def _update_job(self, document_id: str, **values: object) -> None:
        with self._write() as session:
            session.execute(update(StoredJob).where(StoredJob.document_id == document_id).values(**values))


_OF_NOW = StoredJob.generation == StoredDocument.generation


def stage(session: Session, stored: StoredDocument) -> str | None:
    """What is to be done of the document; None where nothing is, or where its deletion is."""
    if stored.state in _ENDED:
        return None
    pending = any(version.state == VersionState.PENDING for version in live_versions(session, [stored.id]))
    return PREREAD if stored.state == DocumentState.INDEXED and not pending else INGEST


def valid_job(session: Session, stored: StoredDocument, task: str) -> StoredJob | None:
    """What was counted of this stage."""
    job = session.get(StoredJob, stored.id)
    return job if job and (job.task, job.generation) == (task, stored.generation) else None


def fresh_job(session: Session, stored: StoredDocument, task: str, now: datetime) -> StoredJob:
    """The row made anew, nothing counted."""
    job = session.get(StoredJob, stored.id) or StoredJob(document_id=stored.id)
    session.add(job)
    job.task, job.generation, job.attempts, job.first_at = task, stored.generation, 0, now
    job.reason_code = job.reason = job.last_at = job.due_at = job.purged_at = None
    job.night_only = False
    return job
