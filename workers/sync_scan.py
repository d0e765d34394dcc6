"""What is in a folder that is kept in step."""

import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from app.core.codes import Code
from app.core.errors import SetupError
from app.core.folder_files import is_document


class FolderUnusable(SetupError):
    """The folder is not there, cannot be read, or nothing is in it, as when its disk is not mounted."""

    code = Code.FOLDER_UNUSABLE


@dataclass(frozen=True)
class FolderFile:
    """`size` in bytes, `mtime_ns`: when it last changed, in nanoseconds since 1970."""

    size: int
    mtime_ns: int


@dataclass
class Scan:
    """Files by their path within the folder, and the folders within (with a slash at the end) that cannot be read."""

    files: dict[str, FolderFile] = field(default_factory=dict)
    unreadable: list[str] = field(default_factory=list)

    def tells_of(self, path: str) -> bool:
        """Whether a file that is not in the scan is not in the folder."""
        return not any(path.startswith(folder) for folder in self.unreadable)


def scan_folder(root: Path) -> Scan:
    """Links to files within the folder count as the files; links to folders are not followed.

    Raises: FolderUnusable.
    """
    scan = Scan()
    try:
        real = root.resolve(strict=True)
        _scan_into(scan, real, "")
    except OSError as error:
        raise FolderUnusable(
            f"The folder {root} cannot be read: {error.strerror}. Nothing was removed.", "Is its disk mounted?"
        ) from error
    if not scan.files:
        raise FolderUnusable(f"No document is in the folder {root}. Nothing was removed.", "Is its disk mounted?")
    return scan


def _scan_into(scan: Scan, root: Path, folder: str) -> None:
    with os.scandir(root / folder) as entries:
        found = list(entries)
    for entry in found:
        path = f"{folder}{entry.name}"
        if entry.is_dir(follow_symlinks=False):
            if not entry.name.startswith("."):
                _scan_below(scan, root, f"{path}/")
        elif is_document(PurePosixPath(path)):
            _note(scan, root, path, entry)


def _scan_below(scan: Scan, root: Path, folder: str) -> None:
    try:
        _scan_into(scan, root, folder)
    except FileNotFoundError:
        return
    except OSError:
        scan.unreadable.append(folder)


def _note(scan: Scan, root: Path, path: str, entry: "os.DirEntry[str]") -> None:
    try:
        if entry.is_symlink() and not Path(entry.path).resolve(strict=True).is_relative_to(root):
            return
        if entry.is_file():
            status = entry.stat()
            scan.files[path] = FolderFile(status.st_size, status.st_mtime_ns)
    except FileNotFoundError:
        return
    except OSError:
        scan.unreadable.append(path)
