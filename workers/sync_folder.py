"""Keeping documents in step with the files of a folder.

    scan          what is in the folder, and what of it has changed since it was last taken
    take          files without a document first, then those with other bytes: one transaction each
    release       files that are gone: their documents take another file's name, or are removed

Whatever ends it, the next sync goes on from what the catalog says. Nothing is removed on a doubt: not where the folder
is not there, a part of it cannot be read, or unusually many files are gone.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from app.core.catalog import Document, SyncedFile, Taken, UnstorableText
from app.core.errors import BadInput, PrereadError, SetupError, Unavailable
from workers.adding import Adding, check_name, media_type_of
from workers.context import WorkerContext
from workers.deletion import finish_deletion
from workers.files import FileTooLarge
from workers.sync_reading import Unsteady, read_steady
from workers.sync_report import SyncReport
from workers.sync_scan import FolderFile, FolderUnusable, Scan, scan_folder

log = logging.getLogger(__name__)

_FEW = 10
_SETTLED_NS = 2_000_000_000  # the coarsest clock of a file system in use


class Interrupted(Exception):
    """The time for this part of a sync is over, or it is another's now; the next part goes on."""


@dataclass(frozen=True)
class FolderSync:
    """One folder. `go_on` is asked before each file and raises Interrupted when the sync has to stop."""

    context: WorkerContext
    source: str
    root: Path
    remove_many: bool
    report: SyncReport
    go_on: Callable[[], None]

    def run(self) -> None:
        """Fill in the report. Raises: Interrupted, DatabaseUnavailable."""
        try:
            scan = scan_folder(self.root)
        except FolderUnusable as problem:
            self.report.problem = f"{problem.message} {problem.hint}"
            return
        self.report.files = len(scan.files)
        known = self._known()
        for path in to_take(scan, known, self._is_kept):
            self.go_on()
            self._try_to_take(path, scan.files[path], known.get(path))
        self._release(scan)
        done = self.report.added + self.report.changed + self.report.known + self.report.later
        self.report.unchanged = max(0, len(scan.files) - done - sum(self.report.refused.values()))

    @property
    def _tenant(self) -> str:
        return self.context.settings.tenant

    def _known(self) -> dict[str, SyncedFile]:
        return self.context.catalog.synced_files(self._tenant, self.source)

    def _is_kept(self, known: SyncedFile) -> bool:
        return known.live and self.context.files.has(self._tenant, known.document_id, known.sha256)

    def _try_to_take(self, path: str, found: FolderFile, before: SyncedFile | None) -> None:
        try:
            self._take(path, found, before)
        except Unsteady:
            self.report.later += 1
        except UnicodeEncodeError:
            self.report.refuse(path, UnstorableText.code, "The name is not in UTF-8.")
        except BadInput as problem:
            self.report.refuse(path, problem.code, problem.message)

    def _take(self, path: str, found: FolderFile, before: SyncedFile | None) -> None:
        name = f"{self.source}/{path}"
        check_name(name)
        settings, files, catalog = self.context.settings, self.context.files, self.context.catalog
        if found.size > settings.max_upload_bytes:
            raise FileTooLarge(f"It is larger than {settings.max_upload_bytes} bytes.")
        path.encode()  # a name that is not UTF-8 cannot be stored
        incoming, read = read_steady(self.root, path, lambda file: files.receive(file, settings.max_upload_bytes))
        try:
            document, taken = catalog.take_file(
                self._tenant, self.source, path, incoming.sha256, media_type_of(name), read.size, _settled(read)
            )
            if document is None:
                self.report.later += 1
                return
            adding = Adding(catalog, files, self.context.waker, self._tenant, settings.max_upload_bytes)
            adding.settle(document, incoming)
        finally:
            files.discard(incoming)
        if (taken, before and before.sha256) != (Taken.KNOWN, incoming.sha256):  # else it was only touched
            setattr(self.report, taken, getattr(self.report, taken) + 1)

    def _release(self, scan: Scan) -> None:
        known = self._known()
        gone = [path for path in known if path not in scan.files and scan.tells_of(path)]
        doomed = doomed_documents(known, gone)
        before = len({each.document_id for each in known.values() if each.owned}) - self.report.added
        if are_suspiciously_many(len(doomed), before) and not self.remove_many:
            self.report.to_remove = len(doomed)
            self.report.problem = (
                f"{len(doomed)} of {before} documents would be removed, so none was. Is the folder complete? "
                "If so: preread sync --remove-many"
            )
            gone = [path for path in gone if known[path].document_id not in doomed]
        for path in gone:
            self.go_on()
            if not self._is_back(path):
                self._let_go(path)

    def _is_back(self, path: str) -> bool:
        """Whether a file has come since the scan, or there is no telling."""
        try:
            file = self.root.resolve() / path.lstrip("/")
            return file.is_file() and file.resolve().is_relative_to(self.root.resolve())
        except OSError:
            return True

    def _let_go(self, path: str) -> None:
        released = self.context.catalog.release_file(self._tenant, self.source, path)
        self.report.renamed += released.renamed
        if released.removed is not None:
            self.report.removed += 1
            self._finish_deletion(released.removed)

    def _finish_deletion(self, before: Document) -> None:
        """It is hidden already; what does not answer now, or is being worked on, is finished by others."""
        if before.claim_owner is not None:
            self.context.waker.wake_delete(before.id)
            return
        catalog, purge = self.context.catalog, self.context.purge
        try:
            finish_deletion(catalog.get_document(self._tenant, before.id), catalog=catalog, purge=purge)
        except (Unavailable, SetupError) as error:
            log.warning("the deletion of %s waits: %s", before.id, error)
        except PrereadError as error:
            log.info("the deletion of %s is another's: %s", before.id, error)


def to_take(scan: Scan, known: dict[str, SyncedFile], is_kept: Callable[[SyncedFile], bool]) -> list[str]:
    """The paths to be read, those that are new first: what was renamed is known again before its name is used anew."""
    new = sorted(path for path in scan.files if path not in known)
    other = sorted(
        path
        for path, file in scan.files.items()
        if path in known
        and ((file.size, file.mtime_ns) != (known[path].size, known[path].mtime_ns) or not is_kept(known[path]))
    )
    return [*new, *other]


def doomed_documents(known: dict[str, SyncedFile], gone: list[str]) -> set[str]:
    """Documents of the sync's own of which no file is left."""
    left = set(known) - set(gone)
    kept = {known[path].document_id for path in left}
    return {known[path].document_id for path in gone if known[path].owned} - kept


def are_suspiciously_many(doomed: int, documents: int) -> bool:
    """More than half of the documents that were there before, and more than a few."""
    return doomed > _FEW and 2 * doomed > documents


def _settled(file: FolderFile) -> int:
    """Its time, or 0 if the file could change once more without getting another."""
    return file.mtime_ns if time.time_ns() - file.mtime_ns > _SETTLED_NS else 0
