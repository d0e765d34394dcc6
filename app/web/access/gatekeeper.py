"""Who sends a request: an API key, or somebody who is signed in by cookie."""

import asyncio
import hmac
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from fastapi.concurrency import run_in_threadpool
from starlette.requests import HTTPConnection

from app.core.access import Principal, permissions_of
from app.core.catalog import ApiKey, Catalog, Session
from app.core.catalog.database import utc_now
from app.core.errors import PrereadError
from app.core.key_token import digest_of, parts_of
from app.core.settings import Settings
from app.web.access.brief import Brief
from app.web.access.cookie import COOKIE, require_csrf_token, session_digest
from app.web.access.errors import KeyExpired, KeyRevoked, Unauthenticated

log = logging.getLogger(__name__)

REMEMBERED_SECONDS = 3.0
"""How long another web process may still take a key or session that has just been ended."""

_NOTED_SECONDS = 60.0
_NOBODYS_DIGEST = "0" * 64
_HINT = "Send Authorization: Bearer prk_…, or sign in at /auth/session."


class Gatekeeper:
    """Costs a request no database query, but for the first of a key or session in three seconds."""

    def __init__(self, catalog: Catalog, settings: Settings, clock: Callable[[], datetime] = utc_now) -> None:
        self._catalog = catalog
        self._settings = settings
        self._clock = clock
        self._idle = timedelta(minutes=settings.session_idle_minutes)
        self._keys: Brief[str, ApiKey] = Brief(REMEMBERED_SECONDS)
        self._sessions: Brief[str, Session] = Brief(REMEMBERED_SECONDS)
        self._noted: Brief[str, bool] = Brief(_NOTED_SECONDS)
        self._noting: set[asyncio.Task[None]] = set()

    async def principal(self, connection: HTTPConnection) -> Principal:
        """Where both a key and a cookie are sent, the key counts.

        Raises Unauthenticated, KeyExpired, KeyRevoked, CsrfRefused, DatabaseUnavailable.
        """
        token = _bearer_of(connection)
        if token is not None:
            return await self._by_key(token)
        cookie = session_token_of(connection)
        if cookie is None:
            raise Unauthenticated("This takes an API key, or being signed in.", _HINT)
        return await self._by_session(cookie, connection)

    def forget(self) -> None:
        """What was changed in this process counts in it at once."""
        self._keys.clear()
        self._sessions.clear()

    async def close(self) -> None:
        await asyncio.gather(*self._noting)

    async def _by_key(self, token: str) -> Principal:
        parts = parts_of(token)
        key = await self._find_key(parts[0]) if parts else None
        # Unknown ones are compared too: how long an answer takes does not tell whether an id exists.
        sent = digest_of(parts[1] if parts else "").encode()
        known = key.digests if key is not None else (_NOBODYS_DIGEST,)
        good = [hmac.compare_digest(sent, digest.encode()) for digest in known]
        if key is None or not any(good):
            raise Unauthenticated("This API key is not known.", _HINT)
        if key.revoked_at is not None:
            raise KeyRevoked("This API key was revoked.", "Ask an admin for another one.")
        if key.expires_at is not None and key.expires_at <= self._clock():
            raise KeyExpired("This API key has expired.", "Ask an admin for another one.")
        self._note(key.id, self._catalog.note_key_use)
        return Principal(
            key.id,
            key.name,
            key.tenant,
            key.role,
            permissions_of(key.role, key.scopes),
            key.requests_per_minute,
            key.concurrent_requests,
        )

    async def _find_key(self, key_id: str) -> ApiKey | None:
        key = self._keys.get(key_id)
        if key is None:
            key = await run_in_threadpool(self._catalog.find_key, key_id)
            if key is not None:
                self._keys.put(key_id, key)
        return key

    async def _by_session(self, token: str, connection: HTTPConnection) -> Principal:
        digest = session_digest(token)
        session = self._sessions.get(digest)
        if session is None:
            session = await run_in_threadpool(self._catalog.find_session, digest, self._idle)
            if session is None:
                raise Unauthenticated("You are not signed in, or no longer.", _HINT)
            self._sessions.put(digest, session)
        if session.expires_at <= self._clock():
            raise Unauthenticated("You are no longer signed in.", _HINT)
        require_csrf_token(connection, token, self._settings)
        self._note(digest, self._catalog.note_session_use)
        user = session.user
        return Principal(user.id, user.name, user.tenant, user.role, user.role.permissions)

    def _note(self, used: str, note: Callable[[str], None]) -> None:
        """Written beside the request, which does not wait for it, once a minute."""
        if self._noted.get(used):
            return
        self._noted.put(used, value=True)
        task = asyncio.create_task(self._write(note, used))
        self._noting.add(task)
        task.add_done_callback(self._noting.discard)

    async def _write(self, note: Callable[[str], None], used: str) -> None:
        try:
            await run_in_threadpool(note, used)
        except PrereadError as error:
            log.warning("when a key or session was last used is not noted: %s", error)


def session_token_of(connection: HTTPConnection) -> str | None:
    """The cookie's value, where it is what counts."""
    return connection.cookies.get(COOKIE) if _bearer_of(connection) is None else None


def _bearer_of(connection: HTTPConnection) -> str | None:
    scheme, _, token = connection.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else None
