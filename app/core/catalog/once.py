"""Requests that are done once, however often they are sent: by an idempotency key of the client's."""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete
from sqlalchemy.orm import Session

from app.core.catalog.database import Database, lock_name
from app.core.catalog.errors import IdempotencyInProgress, IdempotencyMismatch
from app.core.catalog.request_models import StoredOnce


@dataclass(frozen=True)
class KeptAnswer:
    """What the first request with a key was answered."""

    status: int
    body: Any


class Once(Database):
    """Whoever does a request holds a lease, which runs out when its process is killed."""

    def begin_once(
        self, tenant: str, key: str, fingerprint: str, owner: str, seconds: float, kept: timedelta
    ) -> KeptAnswer | None:
        """What was answered to the request with this key; None: it is the caller's to be done.

        A key that was first used longer ago than `kept` is a new one.
        Raises IdempotencyMismatch for another request's key, IdempotencyInProgress while somebody else is at it.
        """
        now = self._clock()
        with self._write() as session:
            lock_name(session.connection(), f"once {tenant} {key}")
            stored = session.get(StoredOnce, (tenant, key))
            if stored is not None and stored.begun_at < now - kept:
                session.delete(stored)
                session.flush()
                stored = None
            if stored is None:
                stored = StoredOnce(tenant=tenant, key=key, fingerprint=fingerprint, begun_at=now)
                session.add(stored)
            elif stored.fingerprint != fingerprint:
                raise IdempotencyMismatch(
                    "This idempotency key came with another request before.", "Take a new key for each new request."
                )
            elif stored.status is not None:
                return KeptAnswer(stored.status, json.loads(stored.body or "null"))
            elif stored.lease_until > now:
                raise IdempotencyInProgress(
                    "The first request with this idempotency key is not done yet.", "Send it again in a moment."
                )
            stored.owner, stored.lease_until = owner, now + timedelta(seconds=seconds)
            return None

    def renew_once(self, tenant: str, key: str, owner: str, seconds: float) -> None:
        """Hold it for `seconds` from now, if it is still the owner's."""
        with self._write() as session:
            if (stored := _held(session, tenant, key, owner)) is not None:
                stored.lease_until = self._clock() + timedelta(seconds=seconds)

    def end_once(self, tenant: str, key: str, owner: str, answer: KeptAnswer | None) -> None:
        """Keep what was answered; None: it was not done, and the key is free again.

        Nothing happens if it is another's by now.
        """
        with self._write() as session:
            stored = _held(session, tenant, key, owner)
            if stored is None:
                return
            if answer is None:
                session.delete(stored)
                return
            stored.status, stored.body = answer.status, json.dumps(answer.body)

    def forget_once(self, before: datetime) -> int:
        """Forget keys that were first used before then, of every tenant; returns how many."""
        gone = delete(StoredOnce).where(StoredOnce.begun_at < before).returning(StoredOnce.key)
        with self._write() as session:
            return len(session.scalars(gone, execution_options={"synchronize_session": False}).all())


def _held(session: Session, tenant: str, key: str, owner: str) -> StoredOnce | None:
    stored = session.get(StoredOnce, (tenant, key), with_for_update=True)
    return stored if stored is not None and stored.owner == owner and stored.status is None else None
