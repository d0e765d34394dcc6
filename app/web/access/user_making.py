"""Making users and their passwords: what web and the command line have in common."""

from app.core.access import Role
from app.core.catalog import Catalog, User
from app.web.access.audit import Action, Audit
from app.web.access.names import user_name
from app.web.access.passwords import hashed, random_password


class UserMaking:
    """`password`: None has one made; it is returned, and told nobody again. Blocking."""

    def __init__(self, catalog: Catalog, audit: Audit) -> None:
        self._catalog = catalog
        self._audit = audit

    def make(self, tenant: str, name: str, role: Role, password: str | None) -> tuple[User, str]:
        """Raises BadName, WeakPassword, UserExists."""
        chosen = password if password is not None else random_password()
        user = self._catalog.add_user(tenant, user_name(name), role, password_hash=hashed(chosen))
        self._audit.note(Action.USER_CREATE, f"{user.name}: {user.role}")
        return user, chosen

    def set_password(self, tenant: str, name: str, password: str | None) -> tuple[User, str]:
        """Ends the user's sessions. Raises UserNotFound, WeakPassword."""
        chosen = password if password is not None else random_password()
        user = self._catalog.set_password(tenant, name, hashed(chosen))
        self._audit.note(Action.USER_PASSWORD, user.name)
        return user, chosen

    def change(self, tenant: str, name: str, *, role: Role | None = None, disabled: bool | None = None) -> User:
        """Ends the user's sessions. Raises UserNotFound, LastAdmin."""
        user = self._catalog.change_user(tenant, name, role=role, disabled=disabled)
        self._audit.note(Action.USER_CHANGE, f"{user.name}: {user.role}{', disabled' if user.disabled else ''}")
        return user
