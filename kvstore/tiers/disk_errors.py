"""What it means when a folder of blobs or its index cannot be used, and what to do about it."""

import errno
import os
import sqlite3
from pathlib import Path

from kvstore.errors import TierDown

DISK_ERRORS = (OSError, sqlite3.Error)

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_REFUSED = {errno.EROFS, errno.EACCES, errno.EPERM}
_NO_FOLDER = {errno.ENOTDIR, errno.EEXIST}


def tier_down(error: Exception, folder: Path) -> TierDown:
    """What one of `DISK_ERRORS` says to the operator."""
    number = error.errno if isinstance(error, OSError) else None
    code = sqlite_code(error)
    if number in _FULL or code == sqlite3.SQLITE_FULL:
        return TierDown(
            f"The disk of chunk KV is full: {error}",
            f"Free some space where {folder} is, or lower PREREAD_KV_DISK_BYTES.",
        )
    if number in _REFUSED or code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM):
        return TierDown(
            f"The disk of chunk KV refuses access: {error}",
            f"Let user {os.getuid()} write to {folder}, or set PREREAD_KV_READ_ONLY where others write it.",
        )
    if number in _NO_FOLDER:
        return TierDown(
            f"There can be no folder for chunk KV: {error}", f"Make {folder} a folder, or set PREREAD_KV_DIR."
        )
    return TierDown(f"The disk tier fails: {error}", f"Check the folder {folder}.")


def sqlite_code(error: Exception) -> int | None:
    """SQLite's primary result code; None where the error is not SQLite's own."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & 0xFF


__all__ = ["DISK_ERRORS", "sqlite_code", "tier_down"]
