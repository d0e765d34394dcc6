"""Conversations: begun, listed, read, renamed, deleted. Each belongs to one owner; nobody else's exists for others."""

import json
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.orm import Session

from app.core.catalog.batches import batches
from app.core.catalog.conversation_models import StoredConversation, StoredTurn
from app.core.catalog.conversation_records import CitedPlace, Conversation, ConversationPage, ConversationTurn
from app.core.catalog.database import Database
from app.core.catalog.errors import ConversationNotFound
from app.core.catalog.models import StoredChunk, StoredVersion
from app.core.catalog.states import VersionState
from app.core.catalog.text import made_storable
from app.core.ids import new_id


class Conversations(Database):
    def begin_conversation(self, tenant: str, owner: str, title: str) -> Conversation:
        now = self._clock()
        stored = StoredConversation(
            id=new_id("cnv"), tenant=tenant, owner=owner, title=made_storable(title), created_at=now, updated_at=now
        )
        with self._write() as session:
            session.add(stored)
            session.flush()
            return _record(stored, 0)

    def conversation(self, tenant: str, owner: str, conversation_id: str) -> Conversation:
        """Raises ConversationNotFound."""
        with self._read() as session:
            return _record(_own(session, tenant, owner, conversation_id), _count_turns(session, conversation_id))

    def conversations(self, tenant: str, owner: str, limit: int = 50, offset: int = 0) -> ConversationPage:
        own = (StoredConversation.tenant == tenant, StoredConversation.owner == owner)
        turns = (
            select(func.count())
            .where(StoredTurn.conversation_id == StoredConversation.id)
            .correlate(StoredConversation)
            .scalar_subquery()
        )
        query = (
            select(StoredConversation, turns)
            .where(*own)
            .order_by(StoredConversation.updated_at.desc(), StoredConversation.id.desc())
        )
        with self._read() as session:
            found = session.execute(query.limit(limit).offset(offset))
            items = tuple(_record(stored, count) for stored, count in found)
            total = session.scalar(select(func.count()).select_from(StoredConversation).where(*own)) or 0
        return ConversationPage(items, total)

    def turns(
        self, tenant: str, owner: str, conversation_id: str, limit: int, offset: int = 0
    ) -> list[ConversationTurn]:
        """In order; `offset` counts from the newest. Raises ConversationNotFound."""
        query = (
            select(StoredTurn)
            .where(StoredTurn.conversation_id == conversation_id)
            .order_by(StoredTurn.created_at.desc(), StoredTurn.request_id.desc())
            .limit(limit)
            .offset(offset)
        )
        with self._read() as session:
            _own(session, tenant, owner, conversation_id)
            return [_turn(stored) for stored in session.scalars(query)][::-1]

    def rename_conversation(self, tenant: str, owner: str, conversation_id: str, title: str) -> Conversation:
        """Raises ConversationNotFound."""
        with self._write() as session:
            stored = _own(session, tenant, owner, conversation_id, lock=True)
            stored.title = made_storable(title)
            return _record(stored, _count_turns(session, conversation_id))

    def delete_conversation(self, tenant: str, owner: str, conversation_id: str) -> None:
        """With all its turns. Raises ConversationNotFound."""
        with self._write() as session:
            session.delete(_own(session, tenant, owner, conversation_id, lock=True))

    def forget_conversations(self, before: datetime) -> int:
        """Delete those that were last used before then, of every tenant; returns how many."""
        gone = (
            delete(StoredConversation).where(StoredConversation.updated_at < before).returning(StoredConversation.id)
        )
        with self._write() as session:
            return len(session.scalars(gone, execution_options={"synchronize_session": False}).all())

    def live_chunk_ids(self, tenant: str, chunk_ids: Iterable[str]) -> set[str]:
        """Those of the chunks that answer questions now: of current versions of documents that are not deleted."""
        found: set[str] = set()
        with self._read() as session:
            for batch in batches(chunk_ids):
                found.update(
                    session.scalars(
                        select(StoredChunk.id)
                        .join(StoredVersion, StoredVersion.id == StoredChunk.version_id)
                        .where(
                            StoredChunk.tenant == tenant,
                            StoredChunk.id.in_(batch),
                            StoredVersion.state == VersionState.CURRENT,
                        )
                    )
                )
        return found


def add_turn(session: Session, tenant: str, owner: str, conversation_id: str, turn: ConversationTurn) -> bool:
    """Whether the conversation was still there to be added to."""
    stored = session.scalar(
        select(StoredConversation).where(*_owned(tenant, owner, conversation_id)).with_for_update()
    )
    if stored is None:
        return False
    stored.updated_at = turn.created_at
    session.add(
        StoredTurn(
            request_id=turn.request_id,
            conversation_id=conversation_id,
            question=made_storable(turn.question),
            answer=made_storable(turn.answer),
            status=turn.status,
            chunk_ids=json.dumps(turn.chunk_ids),
            citations=json.dumps([asdict(place) for place in turn.citations]),
            created_at=turn.created_at,
        )
    )
    return True


def _owned(tenant: str, owner: str, conversation_id: str) -> tuple[ColumnElement[bool], ...]:
    return (
        StoredConversation.tenant == tenant,
        StoredConversation.owner == owner,
        StoredConversation.id == conversation_id,
    )


def _own(
    session: Session, tenant: str, owner: str, conversation_id: str, *, lock: bool = False
) -> StoredConversation:
    query = select(StoredConversation).where(*_owned(tenant, owner, conversation_id))
    stored = session.scalar(query.with_for_update() if lock else query)
    if stored is None:
        raise ConversationNotFound(
            f"There is no conversation {conversation_id}.", "List your conversations to see their ids."
        )
    return stored


def _count_turns(session: Session, conversation_id: str) -> int:
    return session.scalar(select(func.count()).where(StoredTurn.conversation_id == conversation_id)) or 0


def _record(stored: StoredConversation, turns: int) -> Conversation:
    return Conversation(stored.id, stored.title, stored.created_at, stored.updated_at, turns)


def _turn(stored: StoredTurn) -> ConversationTurn:
    return ConversationTurn(
        request_id=stored.request_id,
        question=stored.question,
        answer=stored.answer,
        status=stored.status,
        chunk_ids=tuple(json.loads(stored.chunk_ids)),
        citations=tuple(CitedPlace(**place) for place in json.loads(stored.citations)),
        created_at=stored.created_at,
    )
