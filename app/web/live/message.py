"""What one web process tells another about an answer that the other is making."""

from dataclasses import dataclass
from enum import StrEnum


class Verb(StrEnum):
    """End it, or: somebody is reading it here."""

    STOP = "stop"
    READING = "reading"


@dataclass(frozen=True)
class Message:
    verb: Verb
    request_id: str

    def __str__(self) -> str:
        return f"{self.verb} {self.request_id}"

    @classmethod
    def parse(cls, text: str) -> "Message | None":
        """None for what is none of ours."""
        verb, _, request_id = text.partition(" ")
        return cls(Verb(verb), request_id) if verb in list(Verb) else None
