"""What was checked, how often, and what was found wrong."""

from collections import Counter
from dataclasses import dataclass, field
from threading import Lock

_MOST_SHOWN = 20


@dataclass
class Findings:
    """Written to from several threads. `examined` counts what each check has looked at."""

    examined: Counter[str] = field(default_factory=Counter)
    wrong: dict[str, list[str]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def check(self, name: str, holds: bool, otherwise: str = "") -> bool:
        """Count one thing looked at; unless it `holds`, keep what is wrong with it."""
        with self._lock:
            self.examined[name] += 1
            if not holds:
                self.wrong.setdefault(name, []).append(otherwise)
        return holds

    def told(self) -> list[str]:
        """All that was found wrong so far."""
        with self._lock:
            return [f"{name}: {line}" for name, lines in self.wrong.items() for line in lines]

    @property
    def well(self) -> bool:
        return not self.wrong

    def as_object(self) -> dict[str, dict[str, object]]:
        return {
            name: {
                "examined": count,
                "wrong": len(self.wrong.get(name, ())),
                "evidence": self.wrong.get(name, [])[:_MOST_SHOWN],
            }
            for name, count in sorted(self.examined.items())
        }

    def lines(self) -> list[str]:
        told = []
        for name, count in sorted(self.examined.items()):
            wrong = self.wrong.get(name, [])
            told.append(f"{'WRONG' if wrong else 'ok':5}  {name}: {count} looked at, {len(wrong)} wrong")
            told += [f"         {line}" for line in wrong[:_MOST_SHOWN]]
        return told
