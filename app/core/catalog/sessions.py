"""Who is signed in. Of a session's cookie the catalog knows the digest alone."""

from datetime import timedelta

from sqlalchemy import delete, or_, select, update

from app.core.catalog.access_models import StoredSession, StoredUser
from app.core.catalog.access_records import Session
from app.core.catalog.database import Database
from app.core.catalog.users import user_record

_SEEN_NOTED_SECONDS = 60


class Sessions(Database):
    def open_session(self, user_id: str, digest: str, life: timedelta, idle: timedelta) -> None:
        """Sign a user in for `life`. Sessions that are over, of whomever, are deleted."""
        now = self._clock()
        over = or_(StoredSession.expires_at <= now, StoredSession.seen_at <= now - idle)
        with self._write() as session:
            session.execute(delete(StoredSession).where(over))
            session.add(
                StoredSession(digest=digest, user_id=user_id, created_at=now, seen_at=now, expires_at=now + life)
            )

    def find_session(self, digest: str, idle: timedelta) -> Session | None:
        """None where there is none, where it is over, was not used for `idle`, or its user is disabled."""
        now = self._clock()
        query = (
            select(StoredSession, StoredUser)
            .join(StoredUser, StoredUser.id == StoredSession.user_id)
            .where(
                StoredSession.digest == digest,
                StoredSession.expires_at > now,
                StoredSession.seen_at > now - idle,
                StoredUser.disabled.is_(False),
            )
        )
        with self._read() as session:
            found = session.execute(query).one_or_none()
            if found is None:
                return None
            stored, user = found
            return Session(user_record(user), stored.created_at, stored.seen_at, stored.expires_at)

    def note_session_use(self, digest: str) -> None:
        """Written at most once a minute."""
        now = self._clock()
        unnoted = StoredSession.seen_at < now - timedelta(seconds=_SEEN_NOTED_SECONDS)
        with self._write() as session:
            session.execute(update(StoredSession).where(StoredSession.digest == digest, unnoted).values(seen_at=now))

    def end_session(self, digest: str) -> None:
        with self._write() as session:
            session.execute(delete(StoredSession).where(StoredSession.digest == digest))
