"""What a sync would do, found out without doing it."""

from collections.abc import Callable
from hashlib import file_digest
from pathlib import Path

from app.core.catalog import SyncedFile
from app.core.errors import BadInput
from workers.context import WorkerContext
from workers.sync_folder import are_suspiciously_many, doomed_documents, to_take
from workers.sync_reading import Unsteady, read_steady
from workers.sync_report import SyncReport
from workers.sync_scan import FolderUnusable, scan_folder


def foresee(context: WorkerContext, source: str, root: Path, report: SyncReport, go_on: Callable[[], None]) -> None:
    """Fill in the report; files that are new or have changed are read to see what was only renamed.

    Raises: what `go_on` raises.
    """
    try:
        scan = scan_folder(root)
    except FolderUnusable as problem:
        report.problem = f"{problem.message} {problem.hint}"
        return
    tenant = context.settings.tenant
    known = context.catalog.synced_files(tenant, source)

    def is_kept(file: SyncedFile) -> bool:
        return file.live and context.files.has(tenant, file.document_id, file.sha256)

    taken: dict[str, str] = {}
    for path in to_take(scan, known, is_kept):
        go_on()
        try:
            taken[path] = _digest(root, path, scan.files[path].size, context.settings.max_upload_bytes)
        except Unsteady:
            report.later += 1
        except BadInput as problem:
            report.refuse(path, problem.code, problem.message)
    before = {path: file.sha256 for path, file in known.items()}
    new = {path: digest for path, digest in taken.items() if before.get(path) != digest}
    there = {file.sha256: file.document_id for file in known.values() if file.live}
    gone = [path for path in known if path not in scan.files and scan.tells_of(path)]
    found_again = {there[digest] for digest in new.values() if digest in there}
    orphans = doomed_documents(known, gone)
    doomed = orphans - found_again
    report.files = len(scan.files)
    report.known = sum(digest in there for digest in new.values())
    report.added = sum(digest not in there and path not in known for path, digest in new.items())
    report.changed = sum(digest not in there and path in known for path, digest in new.items())
    report.renamed = len(orphans & found_again)
    report.to_remove = len(doomed)
    report.unchanged = len(scan.files) - len(new) - report.later - sum(report.refused.values())
    if are_suspiciously_many(len(doomed), len({file.document_id for file in known.values() if file.owned})):
        report.problem = "So many are removed only with: preread sync --remove-many"


def _digest(root: Path, path: str, size: int, limit_bytes: int) -> str:
    if size > limit_bytes:
        raise BadInput(f"It is larger than {limit_bytes} bytes.")
    if not size:
        raise BadInput("The file is empty.")
    digest, _ = read_steady(root, path, lambda file: file_digest(file, "sha256").hexdigest())  # type: ignore[arg-type]
    return digest
