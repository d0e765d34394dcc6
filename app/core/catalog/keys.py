"""API keys: made, found, rotated, revoked. Of a secret the catalog knows the digest alone."""

from datetime import datetime, timedelta

from sqlalchemy import or_, select, update
from sqlalchemy.orm import Session

from app.core.access import Permission, Role
from app.core.catalog.access_models import StoredKey, StoredUser
from app.core.catalog.access_records import ApiKey, NewKey
from app.core.catalog.database import Database
from app.core.catalog.errors import KeyNotFound
from app.core.catalog.text import storable
from app.core.ids import new_id

_USE_NOTED_SECONDS = 60


class Keys(Database):
    def add_key(self, key: NewKey, digest: str) -> ApiKey:
        with self._write() as session:
            stored = StoredKey(
                id=new_id("key"),
                tenant=key.tenant,
                name=storable(key.name, "key's name"),
                role=key.role,
                scopes=" ".join(sorted(key.scopes)),
                digest=digest,
                created_at=self._clock(),
                expires_at=key.expires_at,
                requests_per_minute=key.requests_per_minute,
                concurrent_requests=key.concurrent_requests,
            )
            session.add(stored)
            session.flush()
            return _record(stored, self._clock())

    def find_key(self, key_id: str) -> ApiKey | None:
        """Of whatever tenant, expired and revoked ones too."""
        with self._read() as session:
            stored = session.get(StoredKey, key_id)
            return _record(stored, self._clock()) if stored is not None else None

    def keys(self, tenant: str) -> list[ApiKey]:
        """All that a tenant ever had, newest first."""
        query = select(StoredKey).where(StoredKey.tenant == tenant)
        with self._read() as session:
            rows = session.scalars(query.order_by(StoredKey.created_at.desc(), StoredKey.id)).all()
            return [_record(stored, self._clock()) for stored in rows]

    def rotate_key(self, tenant: str, key_id: str, digest: str, overlap: timedelta) -> ApiKey:
        """Give it another secret; the one it had is good for `overlap`. Raises KeyNotFound, also for a revoked one."""
        now = self._clock()
        with self._write() as session:
            stored = _of_tenant(session, tenant, key_id)
            if stored.revoked_at is not None:
                raise _not_found(key_id)
            stored.former_digest, stored.former_until = stored.digest, now + overlap
            stored.digest = digest
            return _record(stored, now)

    def revoke_key(self, tenant: str, key_id: str) -> ApiKey:
        """Raises KeyNotFound. One that is revoked stays as it is."""
        now = self._clock()
        with self._write() as session:
            stored = _of_tenant(session, tenant, key_id)
            stored.revoked_at = stored.revoked_at or now
            return _record(stored, now)

    def note_key_use(self, key_id: str) -> None:
        """Written at most once a minute."""
        now = self._clock()
        lately = now - timedelta(seconds=_USE_NOTED_SECONDS)
        unnoted = or_(StoredKey.last_used_at.is_(None), StoredKey.last_used_at < lately)
        with self._write() as session:
            session.execute(update(StoredKey).where(StoredKey.id == key_id, unnoted).values(last_used_at=now))

    def knows_anybody(self) -> bool:
        """Whether there is a user or a key, of whatever tenant."""
        with self._read() as session:
            queries = (select(StoredUser.id), select(StoredKey.id))
            return any(session.scalar(query.limit(1)) is not None for query in queries)


def _of_tenant(session: Session, tenant: str, key_id: str) -> StoredKey:
    stored = session.get(StoredKey, key_id, with_for_update=True)
    if stored is None or stored.tenant != tenant:
        raise _not_found(key_id)
    return stored


def _not_found(key_id: str) -> KeyNotFound:
    return KeyNotFound(f"There is no key {key_id}.", "List the keys to see their ids.")


def _record(stored: StoredKey, now: datetime) -> ApiKey:
    former = stored.former_digest
    good = [former] if former and stored.former_until is not None and stored.former_until > now else []
    return ApiKey(
        id=stored.id,
        tenant=stored.tenant,
        name=stored.name,
        role=Role(stored.role),
        scopes=tuple(Permission(scope) for scope in stored.scopes.split()),
        created_at=stored.created_at,
        expires_at=stored.expires_at,
        revoked_at=stored.revoked_at,
        last_used_at=stored.last_used_at,
        requests_per_minute=stored.requests_per_minute,
        concurrent_requests=stored.concurrent_requests,
        digests=(stored.digest, *good),
    )
