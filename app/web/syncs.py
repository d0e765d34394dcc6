"""Syncs of folders as the API handles them; workers do them. Blocking: routes call it in a thread."""

from app.core.catalog import Sync
from app.core.errors import NotFound
from app.core.sync_folders import sync_folders_from
from app.web.access.audit import Action, Audit
from app.web.schemas.syncs import SyncIn, SyncListOut, SyncOut, SyncReportOut
from app.web.services import Services


class SyncFolderNotFound(NotFound):
    code = "sync_folder_not_found"


class SyncNotFound(NotFound):
    code = "sync_not_found"


class Syncs:
    def __init__(self, services: Services, tenant: str, audit: Audit) -> None:
        self._catalog = services.catalog
        self._waker = services.waker
        self._tenant = tenant
        self._audit = audit
        # Folders are of the machine, and its operator's.
        own = tenant == services.settings.tenant
        self._folders = list(sync_folders_from(services.settings.sync_folders)) if own else []

    def start(self, wanted: SyncIn) -> SyncListOut:
        """Have a worker do it. Raises SyncFolderNotFound."""
        folders = self._folders if wanted.folder is None else [wanted.folder]
        if not folders or not set(folders) <= set(self._folders):
            raise SyncFolderNotFound(
                f"No folder is named “{wanted.folder}”." if wanted.folder else "No folder is kept in step.",
                "PREREAD_SYNC_FOLDERS names them: NAME=PATH;NAME=PATH",
            )
        begun = [
            self._catalog.want_sync(self._tenant, folder, dry_run=wanted.dry_run, remove_many=wanted.remove_many)
            for folder in folders
        ]
        self._audit.note(Action.SYNC, f"{', '.join(folders)}{' (dry run)' if wanted.dry_run else ''}")
        self._waker.wake_sync()
        return SyncListOut(items=[_sync_out(sync) for sync in begun], folders=self._folders)

    def page(self) -> SyncListOut:
        return SyncListOut(items=[_sync_out(sync) for sync in self._catalog.syncs(self._tenant)], folders=self._folders)

    def get(self, sync_id: str) -> SyncOut:
        """Raises SyncNotFound."""
        sync = self._catalog.get_sync(self._tenant, sync_id)
        if sync is None:
            raise SyncNotFound(f"There is no sync {sync_id}.", "List the syncs to see their ids.")
        return _sync_out(sync)


def _sync_out(sync: Sync) -> SyncOut:
    return SyncOut(
        id=sync.id,
        folder=sync.source,
        dry_run=sync.dry_run,
        remove_many=sync.remove_many,
        asked_at=sync.asked_at,
        running=sync.running,
        ended_at=sync.ended_at,
        report=SyncReportOut.model_validate(sync.report) if sync.report is not None else None,
    )
