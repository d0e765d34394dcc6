"""Jobs as people see them: the documents that are not settled, with what was counted of their stage."""

from datetime import datetime

from sqlalchemy import ColumnElement, and_, case, exists, func, or_, select
from sqlalchemy.orm import Session

from app.core.catalog.attempts import DELETE, INGEST, PREREAD, fresh_job, stage
from app.core.catalog.database import Database
from app.core.catalog.errors import DocumentNotFound, InvalidTransition
from app.core.catalog.models import StoredDocument, StoredVersion
from app.core.catalog.states import DocumentState, VersionState
from app.core.catalog.work_models import StoredJob
from app.core.catalog.work_records import Job, JobPage, JobState, JobTally

_COUNTED = and_(StoredJob.document_id == StoredDocument.id, StoredJob.generation == StoredDocument.generation)
_ORDER = (JobState.RUNNING, JobState.WAITING, JobState.DEAD)


class Jobs(Database):
    """A dead letter is a document that has failed. It stays until it is retried, or purged from this list."""

    def jobs(self, tenant: str, state: JobState | None = None, limit: int = 50, offset: int = 0) -> JobPage:
        """Running ones first, then waiting, then dead; each longest unchanged first."""
        of_now = _state(self._clock())
        chosen = [StoredDocument.tenant == tenant, _IS_JOB]
        if state is not None:
            chosen.append(of_now == state)
        rank = case({each: ordinal for ordinal, each in enumerate(_ORDER)}, value=of_now)
        query = (
            select(StoredDocument, StoredJob, of_now)
            .outerjoin(StoredJob, _COUNTED)
            .where(*chosen)
            .order_by(rank, StoredDocument.updated_at, StoredDocument.id)
            .limit(limit)
            .offset(offset)
        )
        total = select(func.count()).select_from(StoredDocument).outerjoin(StoredJob, _COUNTED).where(*chosen)
        with self._read() as session:
            items = [_job(session, stored, counted, JobState(now)) for stored, counted, now in session.execute(query)]
            return JobPage(tuple(items), session.scalar(total) or 0)

    def job_counts(self, tenant: str) -> dict[JobState, int]:
        """How many jobs are in each state, zeros included."""
        of_now = _state(self._clock()).label("state")
        query = (
            select(of_now, func.count())
            .select_from(StoredDocument)
            .outerjoin(StoredJob, _COUNTED)
            .where(StoredDocument.tenant == tenant, _IS_JOB)
            .group_by(of_now)
        )
        with self._read() as session:
            return dict.fromkeys(JobState, 0) | {JobState(state): count for state, count in session.execute(query)}

    def job_tallies(self, tenant: str) -> list[JobTally]:
        """Jobs by task and state, only what there is."""
        of_now = _state(self._clock())
        since = case((StoredJob.task == _TASK, StoredJob.first_at), else_=StoredDocument.updated_at)
        waits = and_(of_now == JobState.WAITING, StoredJob.night_only.is_not(True))
        each = (
            select(_TASK.label("of_task"), of_now.label("state"), case((waits, since)).label("waits_since"))
            .select_from(StoredDocument)
            .outerjoin(StoredJob, _COUNTED)
            .where(StoredDocument.tenant == tenant, _IS_JOB)
            .subquery()
        )
        kind = each.c.of_task, each.c.state
        query = select(*kind, func.count(), func.min(each.c.waits_since)).group_by(*kind)
        with self._read() as session:
            return [
                JobTally(task, JobState(state), jobs, oldest) for task, state, jobs, oldest in session.execute(query)
            ]

    def job_of(self, tenant: str, document_id: str) -> Job | None:
        """What is to be done of a document; None: nothing."""
        query = (
            select(StoredDocument, StoredJob, _state(self._clock()))
            .outerjoin(StoredJob, _COUNTED)
            .where(StoredDocument.tenant == tenant, StoredDocument.id == document_id, _IS_JOB)
        )
        with self._read() as session:
            row = session.execute(query).first()
            return _job(session, row[0], row[1], JobState(row[2])) if row else None

    def purge_job(self, tenant: str, document_id: str) -> None:
        """Take a dead letter off the list; its document stays failed.

        Raises: DocumentNotFound; InvalidTransition for what is not dead.
        """
        with self._write() as session:
            stored = session.get(StoredDocument, document_id, with_for_update=True)
            if stored is None or stored.tenant != tenant:
                raise DocumentNotFound(f"There is no document {document_id}.", "List the jobs to see their ids.")
            if stored.state != DocumentState.FAILED:
                raise InvalidTransition(f"Document {document_id} has not failed.", "Only dead jobs can be purged.")
            job = session.get(StoredJob, document_id)
            if job is None or job.generation != stored.generation:
                job = fresh_job(session, stored, _task(session, stored, None), stored.updated_at)
            job.purged_at = self._clock()


_IS_JOB = and_(
    StoredDocument.state.in_([state for state in DocumentState if state is not DocumentState.PREREAD]),
    or_(StoredDocument.state != DocumentState.FAILED, StoredJob.purged_at.is_(None)),
)


_PENDING = exists().where(StoredVersion.document_id == StoredDocument.id, StoredVersion.state == VersionState.PENDING)
_TASK: ColumnElement[str] = case(
    (StoredDocument.state == DocumentState.DELETING, DELETE),
    (and_(StoredDocument.state == DocumentState.FAILED, StoredJob.task.is_not(None)), StoredJob.task),
    (and_(StoredDocument.state.in_([DocumentState.INDEXED, DocumentState.FAILED]), ~_PENDING), PREREAD),
    else_=INGEST,
)
"""What `_task` tells of one document, told by the database of many."""


def _state(now: datetime) -> ColumnElement[str]:
    return case(
        (StoredDocument.state == DocumentState.FAILED, JobState.DEAD.value),
        (StoredDocument.claim_until > now, JobState.RUNNING.value),
        else_=JobState.WAITING.value,
    )


def _job(session: Session, stored: StoredDocument, counted: StoredJob | None, state: JobState) -> Job:
    task = _task(session, stored, counted)
    if counted is not None and counted.task != task:
        counted = None
    dead = state is JobState.DEAD
    return Job(
        id=f"{task}-{stored.id}",
        task=task,
        state=state,
        document_id=stored.id,
        document_name=stored.name,
        attempts=counted.attempts if counted else 0,
        reason_code=stored.failure_code if dead else (counted.reason_code if counted else None),
        reason=stored.failure_message if dead else (counted.reason if counted else None),
        first_at=counted.first_at if counted else stored.updated_at,
        last_at=stored.updated_at if dead else (counted.last_at if counted else None),
        due_at=counted.due_at if counted and not dead else None,
    )


def _task(session: Session, stored: StoredDocument, counted: StoredJob | None) -> str:
    if stored.state == DocumentState.DELETING:
        return DELETE
    if stored.state != DocumentState.FAILED:
        return stage(session, stored) or PREREAD
    if counted is not None:
        return counted.task
    pending = select(StoredVersion.id).where(
        StoredVersion.document_id == stored.id, StoredVersion.state == VersionState.PENDING
    )
    return INGEST if session.scalar(pending) else PREREAD
