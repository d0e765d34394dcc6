"""The errors every room may raise.

    PrereadError                 code, message for the user, hint for what to do next, HTTP status
    ├── BadInput                 422  what was sent cannot be used
    ├── NotFound                 404  it is not there, or not yours
    ├── Conflict                 409  it contradicts the present state
    ├── Unavailable              503  a part Preread needs does not answer
    └── SetupError               500  this machine or its settings are not ready

Rooms derive their own from these, in an `errors.py` of their own.
"""

from collections.abc import Mapping
from typing import ClassVar

from app.core.codes import Code


class PrereadError(Exception):
    """An error with a stable `code`, a sentence for the user and a hint.

    `retry_after_seconds`: when the same request may succeed; None: nobody knows.
    """

    code: ClassVar[Code] = Code.INTERNAL_ERROR
    status: int = 500
    retry_after_seconds: int | None = None

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    @property
    def headers(self) -> Mapping[str, str]:
        """HTTP headers that go with it, besides those of every answer."""
        return {}


class BadInput(PrereadError):
    code = Code.BAD_INPUT
    status = 422


class NotFound(PrereadError):
    code = Code.NOT_FOUND
    status = 404


class Conflict(PrereadError):
    code = Code.CONFLICT
    status = 409


class Unavailable(PrereadError):
    code = Code.UNAVAILABLE
    status = 503
    retry_after_seconds = 5


class SetupError(PrereadError):
    code = Code.SETUP_ERROR
    status = 500
