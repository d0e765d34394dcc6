"""When the stages of a request began and ended, for traces. Nothing is noted unless somebody wants to know."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Stage:
    """Times in nanoseconds since 1970."""

    name: str
    began: int
    ended: int


@dataclass
class Stages:
    """`moments`: what happened, and when; `facts`: numbers and names, never texts."""

    spans: list[Stage] = field(default_factory=list)
    moments: list[tuple[str, int]] = field(default_factory=list)
    facts: dict[str, str | int | float | bool] = field(default_factory=dict)
