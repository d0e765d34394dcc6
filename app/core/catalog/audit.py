"""The audit log: written once, read by page, deleted by age alone."""

from datetime import datetime

from sqlalchemy import delete, func, select

from app.core.catalog.access_models import StoredAuditEntry
from app.core.catalog.access_records import AuditEntry, AuditPage
from app.core.catalog.database import Database
from app.core.catalog.text import made_storable
from app.core.ids import new_id

_LONGEST_TARGET = 1000


class AuditLog(Database):
    def note_action(
        self, tenant: str, actor_id: str, actor: str, action: str, target: str, request_id: str = "", address: str = ""
    ) -> None:
        """`target` is cut to a thousand characters."""
        with self._write() as session:
            session.add(
                StoredAuditEntry(
                    id=new_id("aud"),
                    at=self._clock(),
                    tenant=tenant,
                    actor_id=actor_id,
                    actor=made_storable(actor),
                    action=action,
                    target=made_storable(target[:_LONGEST_TARGET]),
                    request_id=made_storable(request_id)[:128],
                    address=address[:64],
                )
            )

    def audit_page(self, tenant: str, limit: int, offset: int) -> AuditPage:
        """Newest first."""
        of_tenant = StoredAuditEntry.tenant == tenant
        query = select(StoredAuditEntry).where(of_tenant)
        newest = query.order_by(StoredAuditEntry.at.desc(), StoredAuditEntry.id.desc()).limit(limit).offset(offset)
        with self._read() as session:
            total = session.scalar(select(func.count()).select_from(StoredAuditEntry).where(of_tenant)) or 0
            return AuditPage(tuple(_record(stored) for stored in session.scalars(newest)), total)

    def forget_audit(self, before: datetime) -> int:
        """Delete what is older, of every tenant; returns how many entries."""
        gone = delete(StoredAuditEntry).where(StoredAuditEntry.at < before).returning(StoredAuditEntry.id)
        with self._write() as session:
            return len(session.scalars(gone, execution_options={"synchronize_session": False}).all())


def _record(stored: StoredAuditEntry) -> AuditEntry:
    return AuditEntry(
        at=stored.at,
        tenant=stored.tenant,
        actor_id=stored.actor_id,
        actor=stored.actor,
        action=stored.action,
        target=stored.target,
        request_id=stored.request_id,
        address=stored.address,
    )
