"""Old history deleted: ended runs, counts of dropped messages, tries that count no more, answers and feedback."""

from datetime import datetime

from sqlalchemy import and_, delete, exists, func, or_
from sqlalchemy.orm import Session, aliased

from app.core.catalog.conversation_models import StoredAnswer, StoredFeedback
from app.core.catalog.database import Database
from app.core.catalog.models import StoredDocument
from app.core.catalog.states import DocumentState
from app.core.catalog.work_models import StoredDrop, StoredJob, StoredRun


class History(Database):
    def forget_history(self, before: datetime) -> dict[str, int]:
        """Delete what was last touched before then, of every tenant; returns how many rows of each kind.

        An open run stays, and each tenant's last ended one of each kind: what is due next is told from it. Tries stay
        for as long as their document is at the stage that they are of.
        """
        with self._write() as session:
            return {
                "runs": _forget_runs(session, before),
                "attempts": _forget_attempts(session, before),
                "dropped_messages": _forget_drops(session, before),
                "answers": _forget_answers(session, before),
                "feedback": _forget_feedback(session, before),
            }


def _forget_runs(session: Session, before: datetime) -> int:
    later = aliased(StoredRun)
    replaced = exists().where(
        later.tenant == StoredRun.tenant,
        later.kind == StoredRun.kind,
        later.ended_at.is_not(None),
        later.started_at > StoredRun.started_at,
    )
    gone = delete(StoredRun).where(StoredRun.ended_at < before, replaced).returning(StoredRun.id)
    return len(session.scalars(gone, execution_options={"synchronize_session": False}).all())


def _forget_attempts(session: Session, before: datetime) -> int:
    counts_no_more = exists().where(
        StoredDocument.id == StoredJob.document_id,
        or_(StoredDocument.generation != StoredJob.generation, StoredDocument.state == DocumentState.PREREAD),
    )
    old = func.coalesce(StoredJob.last_at, StoredJob.first_at) < before
    gone = delete(StoredJob).where(and_(old, counts_no_more)).returning(StoredJob.document_id)
    return len(session.scalars(gone, execution_options={"synchronize_session": False}).all())


def _forget_drops(session: Session, before: datetime) -> int:
    gone = delete(StoredDrop).where(StoredDrop.last_at < before).returning(StoredDrop.reason)
    return len(session.scalars(gone, execution_options={"synchronize_session": False}).all())


def _forget_answers(session: Session, before: datetime) -> int:
    gone = delete(StoredAnswer).where(StoredAnswer.created_at < before).returning(StoredAnswer.request_id)
    return len(session.scalars(gone, execution_options={"synchronize_session": False}).all())


def _forget_feedback(session: Session, before: datetime) -> int:
    gone = delete(StoredFeedback).where(StoredFeedback.rated_at < before).returning(StoredFeedback.request_id)
    return len(session.scalars(gone, execution_options={"synchronize_session": False}).all())
