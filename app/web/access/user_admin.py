"""A tenant's users as its admins handle them. Blocking: routes call it in a thread."""

from pydantic import SecretStr

from app.core.access import Principal
from app.core.catalog import User, UserNotFound
from app.web.access.access import Access
from app.web.access.audit import Audit
from app.web.access.giving import require_no_more
from app.web.access.user_making import UserMaking
from app.web.schemas.users import UserChange, UserIn, UserList, UserOut, UserWithPassword
from app.web.services import Services


class UserAdmin:
    def __init__(self, services: Services, principal: Principal, audit: Audit, access: Access) -> None:
        self._catalog = services.catalog
        self._principal = principal
        self._tenant = principal.tenant
        self._making = UserMaking(services.catalog, audit)
        self._gatekeeper = access.gatekeeper

    def list(self) -> UserList:
        return UserList(items=[_user_out(user) for user in self._catalog.users(self._tenant)])

    def create(self, wanted: UserIn) -> UserWithPassword:
        """Raises Forbidden for a role that may do more than the admin; BadName, WeakPassword, UserExists."""
        require_no_more(self._principal, wanted.role.permissions)
        user, password = self._making.make(self._tenant, wanted.name, wanted.role, _plain(wanted.password))
        return UserWithPassword(user=_user_out(user), password=None if wanted.password else password)

    def change(self, name: str, wanted: UserChange) -> UserOut:
        """Raises Forbidden for a role that may do more than the admin; UserNotFound, LastAdmin."""
        self._known(name)
        if wanted.role is not None:
            require_no_more(self._principal, wanted.role.permissions)
        user = self._making.change(self._tenant, name, role=wanted.role, disabled=wanted.disabled)
        self._gatekeeper.forget()
        return _user_out(user)

    def set_password(self, name: str, password: SecretStr | None) -> UserWithPassword:
        """Whoever knows it may sign in so. Raises Forbidden for a user who may do more; UserNotFound, WeakPassword."""
        require_no_more(self._principal, self._known(name).role.permissions)
        user, chosen = self._making.set_password(self._tenant, name, _plain(password))
        self._gatekeeper.forget()
        return UserWithPassword(user=_user_out(user), password=None if password else chosen)

    def _known(self, name: str) -> User:
        user = self._catalog.find_user(name)
        if user is None or user.tenant != self._tenant:
            raise UserNotFound(f"There is no user {name}.", "List the users to see their names.")
        return user


def _plain(password: SecretStr | None) -> str | None:
    return None if password is None else password.get_secret_value()


def _user_out(user: User) -> UserOut:
    return UserOut(
        name=user.name,
        role=user.role,
        disabled=user.disabled,
        has_password=user.password_hash is not None,
        created_at=user.created_at,
    )
