"""What a check of `preread doctor` found."""

from dataclasses import dataclass
from enum import StrEnum

from app.core.errors import PrereadError


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Finding:
    """`message`: what was found or is wrong; `hint`: how to mend it."""

    name: str
    level: Level
    message: str
    hint: str = ""


def ok(name: str, message: str) -> Finding:
    return Finding(name, Level.OK, message)


def warn(name: str, message: str, hint: str) -> Finding:
    return Finding(name, Level.WARN, message, hint)


def fail(name: str, message: str, hint: str) -> Finding:
    return Finding(name, Level.FAIL, message, hint)


def failed_by(name: str, error: PrereadError) -> Finding:
    return Finding(name, Level.FAIL, error.message, error.hint)
