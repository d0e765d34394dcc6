"""Who was killed when."""

import time
from collections import Counter
from dataclasses import dataclass, field

from chaos_plan import Victim

_MOST_DEATHS, _WITHIN_SECONDS = 4, 65.0
_STARTED_BY_UP = {
    Victim.WORKER: "worker",
    Victim.WORKER_PARENT: "worker",
    Victim.WEB: "web",
    Victim.REDIS: "redis",
    Victim.BEAT: "beat",
    Victim.ENGINE: "engine",
    Victim.ENGINE_CORE: "engine",
}


@dataclass
class Killed:
    """`stages`: after which change, and how far that had come."""

    victims: Counter[Victim] = field(default_factory=Counter)
    stages: Counter[str] = field(default_factory=Counter)
    _deaths: dict[str, list[float]] = field(default_factory=dict)

    def note(self, victim: Victim) -> None:
        self.victims[victim] += 1
        if process := _STARTED_BY_UP.get(victim):
            self._deaths.setdefault(process, []).append(time.monotonic())

    def wait_seconds(self, victim: Victim) -> float:
        """How long to wait before the next death of the same process.

        `preread up` gives up what dies six times within a minute, as a program does that cannot run. So it is never the
        fifth time here.
        """
        recent = self._deaths.get(_STARTED_BY_UP.get(victim, ""), [])[-_MOST_DEATHS:]
        return max(0.0, recent[0] + _WITHIN_SECONDS - time.monotonic()) if len(recent) == _MOST_DEATHS else 0.0
