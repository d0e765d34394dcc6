"""Answers that were given, and what their owners thought of them."""

from collections.abc import Sequence
from dataclasses import asdict

from sqlalchemy import func, select

from app.core.catalog.conversation_models import StoredAnswer, StoredFeedback
from app.core.catalog.conversation_records import (
    ConversationTurn,
    Feedback,
    FeedbackPage,
    FeedbackReason,
    GivenAnswer,
    Rating,
)
from app.core.catalog.conversations import add_turn
from app.core.catalog.database import Database
from app.core.catalog.errors import AnswerNotFound
from app.core.catalog.text import made_storable
from app.core.catalog.upsert import upsert


class GivenAnswers(Database):
    def record_answer(self, answer: GivenAnswer, turn: ConversationTurn | None = None) -> None:
        """Note that it was given, and in its conversation what it said, if that was not deleted meanwhile."""
        with self._write() as session:
            values = asdict(answer) | {"question": answer.question and made_storable(answer.question)}
            session.add(StoredAnswer(**values))
            if answer.conversation_id is not None and turn is not None:
                add_turn(session, answer.tenant, answer.owner, answer.conversation_id, turn)

    def given_answer(self, tenant: str, request_id: str) -> GivenAnswer | None:
        with self._read() as session:
            stored = session.get(StoredAnswer, request_id)
            return _answer(stored) if stored is not None and stored.tenant == tenant else None

    def give_feedback(
        self,
        tenant: str,
        owner: str,
        request_id: str,
        rating: Rating,
        reason: FeedbackReason | None,
        comment: str | None,
    ) -> Feedback:
        """In place of what the owner said of it before. Raises AnswerNotFound."""
        with self._write() as session:
            answer = session.get(StoredAnswer, request_id)
            if answer is None or (answer.tenant, answer.owner) != (tenant, owner):
                raise AnswerNotFound(
                    f"There is no answer {request_id}.", "Feedback can be given once the answer has ended."
                )
            values = {
                "rating": rating,
                "reason": reason,
                "comment": comment and made_storable(comment),
                "question": answer.question,
                "rated_at": self._clock(),
            }
            insert = upsert(session, StoredFeedback).values(
                request_id=request_id, owner=owner, tenant=tenant, **values
            )
            session.execute(insert.on_conflict_do_update(index_elements=["request_id", "owner"], set_=values))
            stored = session.get_one(StoredFeedback, (request_id, owner))
            return _feedback(stored)

    def feedback(self, tenant: str, limit: int = 50, offset: int = 0, rating: Rating | None = None) -> FeedbackPage:
        chosen = [StoredFeedback.tenant == tenant]
        if rating is not None:
            chosen.append(StoredFeedback.rating == rating)
        query = (
            select(StoredFeedback)
            .where(*chosen)
            .order_by(StoredFeedback.rated_at.desc(), StoredFeedback.request_id.desc())
            .limit(limit)
            .offset(offset)
        )
        counted = (
            select(StoredFeedback.rating, func.count())
            .where(StoredFeedback.tenant == tenant)
            .group_by(StoredFeedback.rating)
        )
        with self._read() as session:
            stored: Sequence[StoredFeedback] = session.scalars(query).all()
            found = {Rating(each): count for each, count in session.execute(counted)}
        counts = {each: found.get(each, 0) for each in Rating}
        total = sum(counts.values()) if rating is None else counts[rating]
        return FeedbackPage(tuple(map(_feedback, stored)), total, counts)


def _answer(stored: StoredAnswer) -> GivenAnswer:
    return GivenAnswer(
        stored.request_id,
        stored.tenant,
        stored.owner,
        stored.conversation_id,
        stored.status,
        stored.policy,
        stored.created_at,
        stored.ttft_ms,
        stored.question,
    )


def _feedback(stored: StoredFeedback) -> Feedback:
    return Feedback(
        stored.request_id,
        stored.owner,
        Rating(stored.rating),
        None if stored.reason is None else FeedbackReason(stored.reason),
        stored.comment,
        stored.question,
        stored.rated_at,
    )
