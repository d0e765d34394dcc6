"""The errors every room may raise.

    PrereadError                 code, message for the user, hint for what to do next, HTTP status
    ├── BadInput                 422  what was sent cannot be used
    ├── NotFound                 404  it is not there, or not yours
    ├── Conflict                 409  it contradicts the present state
    ├── Unavailable              503  a part Preread needs does not answer
    └── SetupError               500  this machine or its settings are not ready

Rooms derive their own from these, in an `errors.py` of their own.
"""

from typing import ClassVar


class PrereadError(Exception):
    """An error with a stable `code`, a sentence for the user and a hint."""

    code: ClassVar[str] = "internal_error"
    status: ClassVar[int] = 500

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class BadInput(PrereadError):
    code = "bad_input"
    status = 422


class NotFound(PrereadError):
    code = "not_found"
    status = 404


class Conflict(PrereadError):
    code = "conflict"
    status = 409


class Unavailable(PrereadError):
    code = "unavailable"
    status = 503


class SetupError(PrereadError):
    code = "setup_error"
    status = 500
