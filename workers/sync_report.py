"""What a sync of a folder found and did."""

from dataclasses import asdict, dataclass, field, fields
from typing import Any

_NAMED = 20


@dataclass
class SyncReport:
    """Numbers of files. `problem` says why nothing was removed, where nothing was; `refused` counts by code.

    `added`: new documents; `changed`: new versions; `known`: bytes that a document had already; `renamed`, `removed`:
    documents; `later`: changed while they were read, or about to be replaced where they are: taken next time.
    """

    files: int = 0
    unchanged: int = 0
    added: int = 0
    changed: int = 0
    known: int = 0
    later: int = 0
    renamed: int = 0
    removed: int = 0
    to_remove: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    refusals: list[dict[str, str]] = field(default_factory=list)
    problem: str | None = None

    @classmethod
    def going_on(cls, so_far: dict[str, Any] | None) -> "SyncReport":
        """That of a sync which was interrupted: its counts of what was done stand."""
        known = {each.name for each in fields(cls)}
        done = {name: value for name, value in (so_far or {}).items() if name in known}
        return cls(**done | {"refused": {}, "refusals": [], "later": 0, "problem": None, "to_remove": 0})

    def refuse(self, path: str, code: str, message: str) -> None:
        """Count a file that cannot be a document; the first few are named."""
        self.refused[code] = self.refused.get(code, 0) + 1
        if len(self.refusals) < _NAMED:
            self.refusals.append({"path": path.encode(errors="replace").decode(), "code": code, "message": message})

    def as_json(self) -> dict[str, Any]:
        return asdict(self)
