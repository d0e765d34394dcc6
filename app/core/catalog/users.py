"""Users: made, found, changed. A change of password, role or state ends their sessions."""

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from app.core.access import Role
from app.core.catalog.access_models import StoredSession, StoredUser
from app.core.catalog.access_records import User
from app.core.catalog.database import Database, lock_name
from app.core.catalog.errors import LastAdmin, UserExists, UserNotFound
from app.core.catalog.text import storable
from app.core.ids import new_id


class Users(Database):
    def add_user(
        self, tenant: str, name: str, role: Role, *, password_hash: str | None = None, subject: str | None = None
    ) -> User:
        """Raises UserExists: names are unique in the whole installation."""
        stored = StoredUser(
            id=new_id("usr"),
            tenant=tenant,
            name=storable(name, "user's name"),
            role=role,
            password_hash=password_hash,
            subject=subject,
            disabled=False,
            created_at=self._clock(),
        )
        try:
            with self._write() as session:
                session.add(stored)
                session.flush()
                return user_record(stored)
        except IntegrityError as error:
            raise UserExists(f"There is a user {name} already.", "Choose another name.") from error

    def find_user(self, name: str) -> User | None:
        """Of whatever tenant, disabled ones too."""
        return self._user_where(StoredUser.name == name)

    def user_of_subject(self, subject: str) -> User | None:
        """Who signed in by OIDC as this issuer and subject."""
        return self._user_where(StoredUser.subject == subject)

    def users(self, tenant: str) -> list[User]:
        """By name."""
        query = select(StoredUser).where(StoredUser.tenant == tenant).order_by(StoredUser.name)
        with self._read() as session:
            return [user_record(stored) for stored in session.scalars(query)]

    def has_users(self) -> bool:
        """Whether there is any, of whatever tenant."""
        with self._read() as session:
            return session.scalar(select(StoredUser.id).limit(1)) is not None

    def change_user(self, tenant: str, name: str, *, role: Role | None = None, disabled: bool | None = None) -> User:
        """What is None stays. Raises UserNotFound, and LastAdmin where nobody could administer the tenant then."""
        with self._write() as session:
            lock_name(session.connection(), f"admins {tenant}")
            stored = _of_tenant(session, tenant, name)
            before = stored.role, stored.disabled
            stored.role = role or stored.role
            stored.disabled = stored.disabled if disabled is None else disabled
            session.flush()
            if before == (Role.ADMIN, False) and not _admins(session, tenant):
                raise LastAdmin(
                    f"{name} is the last admin of {tenant}.", "Make another user an admin first, then try again."
                )
            if before != (stored.role, stored.disabled):
                _end_sessions(session, stored.id)
            return user_record(stored)

    def set_password(self, tenant: str, name: str, password_hash: str) -> User:
        """Raises UserNotFound."""
        with self._write() as session:
            stored = _of_tenant(session, tenant, name)
            stored.password_hash = password_hash
            _end_sessions(session, stored.id)
            return user_record(stored)

    def _user_where(self, condition: ColumnElement[bool]) -> User | None:
        with self._read() as session:
            stored = session.scalar(select(StoredUser).where(condition))
            return user_record(stored) if stored is not None else None


def user_record(stored: StoredUser) -> User:
    return User(
        id=stored.id,
        tenant=stored.tenant,
        name=stored.name,
        role=Role(stored.role),
        disabled=stored.disabled,
        created_at=stored.created_at,
        subject=stored.subject,
        password_hash=stored.password_hash,
    )


def _of_tenant(session: Session, tenant: str, name: str) -> StoredUser:
    query = select(StoredUser).where(StoredUser.tenant == tenant, StoredUser.name == name)
    stored = session.scalar(query.with_for_update())
    if stored is None:
        raise UserNotFound(f"There is no user {name}.", "List the users to see their names.")
    return stored


def _admins(session: Session, tenant: str) -> int:
    admins = StoredUser.tenant == tenant, StoredUser.role == Role.ADMIN, StoredUser.disabled.is_(False)
    return session.scalar(select(func.count()).select_from(StoredUser).where(*admins)) or 0


def _end_sessions(session: Session, user_id: str) -> None:
    session.execute(delete(StoredSession).where(StoredSession.user_id == user_id))
