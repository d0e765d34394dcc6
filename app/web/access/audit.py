"""The audit log as those write it who change something."""

from dataclasses import asdict, dataclass, replace
from enum import StrEnum

from starlette.requests import HTTPConnection

from app.core.access import Principal
from app.core.catalog import Catalog, User
from app.core.request_context import current_request_id
from app.web.schemas.audit import AuditEntryOut, AuditPageOut


class Action(StrEnum):
    KEY_CREATE = "key.create"
    KEY_ROTATE = "key.rotate"
    KEY_REVOKE = "key.revoke"
    USER_CREATE = "user.create"
    USER_CHANGE = "user.change"
    USER_PASSWORD = "user.password"  # noqa: S105  (no password)
    SIGN_IN = "sign_in"
    SIGN_IN_FAILED = "sign_in.failed"
    SIGN_OUT = "sign_out"
    DOCUMENT_ADD = "document.add"
    DOCUMENT_DELETE = "document.delete"
    DOCUMENT_LABEL = "document.label"
    DOCUMENT_RETRY = "document.retry"
    JOB_RETRY = "job.retry"
    JOB_PURGE = "job.purge"
    PRECOMPUTE = "precompute"
    SYNC = "sync"


@dataclass(frozen=True)
class Audit:
    """Who acts, from where. Blocking: it writes to the database."""

    catalog: Catalog
    tenant: str
    actor_id: str
    actor: str
    request_id: str = ""
    address: str = ""

    @classmethod
    def of(cls, catalog: Catalog, principal: Principal, connection: HTTPConnection) -> "Audit":
        return cls(
            catalog, principal.tenant, principal.id, principal.name, current_request_id() or "", address_of(connection)
        )

    @classmethod
    def of_stranger(cls, catalog: Catalog, tenant: str, name: str, connection: HTTPConnection) -> "Audit":
        """Somebody who says to be `name`."""
        return cls(catalog, tenant, "", name, current_request_id() or "", address_of(connection))

    @classmethod
    def of_command_line(cls, catalog: Catalog, tenant: str, account: str) -> "Audit":
        return cls(catalog, tenant, "command-line", account)

    def by(self, user: User) -> "Audit":
        return replace(self, tenant=user.tenant, actor_id=user.id, actor=user.name)

    def note(self, action: Action, target: str = "") -> None:
        """`target`: the id or name of what was changed, and how; never a secret."""
        self.catalog.note_action(self.tenant, self.actor_id, self.actor, action, target, self.request_id, self.address)

    def page(self, limit: int, offset: int) -> AuditPageOut:
        """The tenant's entries, newest first."""
        page = self.catalog.audit_page(self.tenant, limit, offset)
        shown = AuditEntryOut.model_fields
        items = [
            AuditEntryOut(**{name: value for name, value in asdict(entry).items() if name in shown})
            for entry in page.items
        ]
        return AuditPageOut(items=items, total=page.total)


def address_of(connection: HTTPConnection) -> str:
    return connection.client.host if connection.client else ""
