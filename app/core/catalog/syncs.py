"""Syncs of folders: wanted, worked on by one at a time for a folder, and reported."""

import json
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, delete, or_, select
from sqlalchemy.orm import Session

from app.core.catalog.database import Database, lock_name
from app.core.catalog.library_models import StoredSync
from app.core.catalog.library_records import Sync
from app.core.ids import new_id

_KEPT = 10


class Syncs(Database):
    """A sync that was asked for is a row without an end. Whoever works on it holds a lease, which runs out."""

    def want_sync(self, tenant: str, source: str, *, dry_run: bool = False, remove_many: bool = False) -> Sync:
        """Ask for a sync of a folder; one just like it that nobody has begun is that one."""
        now = self._clock()
        with self._write() as session:
            lock_name(session.connection(), f"sync {tenant}")
            equal = select(StoredSync).where(
                *_open_of(tenant, source), StoredSync.report.is_(None), StoredSync.owner.is_(None),
                StoredSync.dry_run == dry_run, StoredSync.remove_many == remove_many,
            )  # fmt: skip
            stored = session.scalar(equal.limit(1))
            if stored is None:
                stored = StoredSync(
                    id=new_id("syn"), tenant=tenant, source=source, dry_run=dry_run, remove_many=remove_many,
                    asked_at=now,
                )  # fmt: skip
                session.add(stored)
                session.flush()
            return _record(stored, now)

    def take_sync(self, tenant: str, owner: str, seconds: float, sync_id: str | None = None) -> Sync | None:
        """Hold the sync that waits longest, or this one, of a folder that nobody is at; None: there is none."""
        now = self._clock()
        with self._write() as session:
            lock_name(session.connection(), f"sync {tenant}")
            query = select(StoredSync).where(StoredSync.tenant == tenant, StoredSync.ended_at.is_(None))
            waiting = session.scalars(query.order_by(StoredSync.asked_at, StoredSync.id)).all()
            busy = {each.source for each in waiting if each.lease_until is not None and each.lease_until > now}
            for stored in waiting:
                if stored.source not in busy and sync_id in (None, stored.id):
                    stored.owner, stored.lease_until = owner, now + timedelta(seconds=seconds)
                    return _record(stored, now)
            return None

    def renew_sync(self, sync_id: str, owner: str, seconds: float) -> bool:
        """Hold it for `seconds` from now. False: it is another's."""
        with self._write() as session:
            stored = _held(session, sync_id, owner)
            if stored is not None:
                stored.lease_until = self._clock() + timedelta(seconds=seconds)
            return stored is not None

    def leave_sync(self, sync_id: str, owner: str, report: dict[str, Any] | None, *, ended: bool) -> None:
        """Give it up, done or not; nothing happens if it is another's. Of each folder the last ten are kept."""
        with self._write() as session:
            stored = _held(session, sync_id, owner)
            if stored is None:
                return
            stored.owner = stored.lease_until = None
            stored.report = json.dumps(report) if report is not None else stored.report
            if not ended:
                return
            stored.ended_at = self._clock()
            session.flush()
            of_folder = [StoredSync.tenant == stored.tenant, StoredSync.source == stored.source]
            kept = select(StoredSync.id).where(*of_folder).order_by(StoredSync.asked_at.desc()).limit(_KEPT)
            old = [*of_folder, StoredSync.ended_at.is_not(None), StoredSync.id.not_in(kept)]
            session.execute(delete(StoredSync).where(*old))

    def has_waiting_sync(self, tenant: str) -> bool:
        """Whether there is one that a worker could begin or take up."""
        now = self._clock()
        query = select(StoredSync.id).where(
            StoredSync.tenant == tenant,
            StoredSync.ended_at.is_(None),
            or_(StoredSync.lease_until.is_(None), StoredSync.lease_until <= now),
        )
        with self._read() as session:
            return session.scalar(query.limit(1)) is not None

    def get_sync(self, tenant: str, sync_id: str) -> Sync | None:
        with self._read() as session:
            stored = session.get(StoredSync, sync_id)
            return _record(stored, self._clock()) if stored is not None and stored.tenant == tenant else None

    def syncs(self, tenant: str) -> list[Sync]:
        """Those that are kept, newest first."""
        query = select(StoredSync).where(StoredSync.tenant == tenant)
        with self._read() as session:
            rows = session.scalars(query.order_by(StoredSync.asked_at.desc(), StoredSync.id)).all()
            return [_record(stored, self._clock()) for stored in rows]


def _open_of(tenant: str, source: str) -> list[ColumnElement[bool]]:
    return [StoredSync.tenant == tenant, StoredSync.source == source, StoredSync.ended_at.is_(None)]


def _held(session: Session, sync_id: str, owner: str) -> StoredSync | None:
    stored = session.get(StoredSync, sync_id, with_for_update=True)
    return stored if stored is not None and stored.owner == owner and stored.ended_at is None else None


def _record(stored: StoredSync, now: datetime) -> Sync:
    return Sync(
        id=stored.id,
        source=stored.source,
        dry_run=stored.dry_run,
        remove_many=stored.remove_many,
        asked_at=stored.asked_at,
        running=stored.lease_until is not None and stored.lease_until > now,
        ended_at=stored.ended_at,
        report=None if stored.report is None else json.loads(stored.report),
    )
