"""What an object store's errors mean. Nearly all reach us as one class, so the HTTP status is read from the text."""

import re

from obstore.exceptions import BaseError, GenericError, PermissionDeniedError, UnauthenticatedError

from kvstore.errors import TierDown

OBJECT_ERRORS = (BaseError, OSError)  # a missing object is a FileNotFoundError

_STATUS = re.compile(r"status code: (\d{3})")
_SLOW_DOWN = 429
_LONGEST_REASON = 300  # characters


def is_silence(error: Exception) -> bool:
    """Whether the store did not answer, or that it cannot now."""
    status = _status(error)
    if status is not None:
        return status >= 500 or status == _SLOW_DOWN
    return isinstance(error, (GenericError, OSError))


def tier_down(error: Exception) -> TierDown:
    status = _status(error)
    if status == 404 and (isinstance(error, FileNotFoundError) or "list request" in str(error)):
        return TierDown(
            "The object store has no such bucket.", "Make the bucket in PREREAD_KV_OBJECT_URL, or correct it."
        )
    if status in (401, 403):
        return TierDown(
            f"The object store refuses access: {reason(error)}",
            "Check the credentials for PREREAD_KV_OBJECT_URL: they must allow to list, read, write and delete.",
        )
    if not is_silence(error):
        return TierDown(
            f"The object store refuses: {reason(error)}", "Check PREREAD_KV_OBJECT_URL and the bucket's settings."
        )
    if "kind: Timeout" in str(error):
        return TierDown(
            "The object store does not answer in time.", "Check PREREAD_KV_OBJECT_URL and the way to the store."
        )
    return TierDown(
        f"The object store does not answer: {reason(error)}",
        "Check PREREAD_KV_OBJECT_URL, the credentials for it, and that the store can be reached.",
    )


def reason(error: Exception) -> str:
    """One line, without the address asked, which may hold a signature, and without the library's debug output."""
    told = str(error).partition("\n\nDebug source:")[0].rpartition(" - ")[2]
    return " ".join(told.split())[:_LONGEST_REASON]


def _status(error: Exception) -> int | None:
    if isinstance(error, FileNotFoundError):
        return 404
    if isinstance(error, PermissionDeniedError):
        return 403
    if isinstance(error, UnauthenticatedError):
        return 401
    found = _STATUS.search(str(error))
    return int(found[1]) if found else None


__all__ = ["OBJECT_ERRORS", "is_silence", "reason", "tier_down"]
