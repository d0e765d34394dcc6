"""Signing in and out."""

from datetime import timedelta

from fastapi.concurrency import run_in_threadpool

from app.core.access import Principal
from app.core.catalog import User
from app.web.access.access import Access
from app.web.access.audit import Action, Audit
from app.web.access.cookie import csrf_token, new_session_token, session_digest
from app.web.access.errors import SignInFailed
from app.web.access.passwords import is_password
from app.web.schemas.session import MethodsOut, SessionOut
from app.web.services import Services


class SigningIn:
    def __init__(self, services: Services, access: Access) -> None:
        self._catalog = services.catalog
        self._settings = services.settings
        self._access = access

    async def by_password(self, name: str, password: str, audit: Audit) -> tuple[str, User]:
        """The session's token and its user.

        Raises SignInFailed, with the same words and about the same work whatever is wrong, and TooManyAttempts.
        """
        await self._access.limits.attempt(name, audit.address)
        token, user = await run_in_threadpool(self._checked, name, password, audit)
        await self._access.limits.succeeded(name, audit.address)
        return token, user

    def open(self, user: User, audit: Audit) -> str:
        """Sign in somebody who is known by now; the session's token. Blocking."""
        token = new_session_token()
        life = timedelta(hours=self._settings.session_hours)
        idle = timedelta(minutes=self._settings.session_idle_minutes)
        self._catalog.open_session(user.id, session_digest(token), life, idle)
        audit.by(user).note(Action.SIGN_IN)
        return token

    def close(self, token: str | None, audit: Audit) -> None:
        """`token`: None for an API key, which has no session to end. Blocking."""
        if token is None:
            return
        self._catalog.end_session(session_digest(token))
        self._access.gatekeeper.forget()
        audit.note(Action.SIGN_OUT)

    def shown(self, principal: Principal, token: str | None) -> SessionOut:
        """`token`: None for an API key."""
        return SessionOut(
            name=principal.name,
            tenant=principal.tenant,
            role=principal.role,
            permissions=sorted(principal.permissions),
            csrf_token=csrf_token(token) if token is not None else None,
            methods=self.methods(),
        )

    def methods(self) -> MethodsOut:
        oidc = bool(self._settings.oidc_issuer)
        return MethodsOut(password=True, oidc=oidc, oidc_name=self._settings.oidc_name if oidc else "")

    def _checked(self, name: str, password: str, audit: Audit) -> tuple[str, User]:
        user = self._catalog.find_user(name)
        right = is_password(password, user.password_hash if user is not None else None)
        if user is None or not right or user.disabled:
            tried = audit.by(user) if user is not None else audit
            tried.note(Action.SIGN_IN_FAILED, name)
            raise SignInFailed("The name or the password is wrong.", "An admin can set another password.")
        return self.open(user, audit), user


def principal_of(user: User) -> Principal:
    return Principal(user.id, user.name, user.tenant, user.role, user.role.permissions)
