"""How often a crashed process is started again, and after what pause."""

_MOST = 5
_WINDOW_SECONDS = 60.0
_LONGEST_PAUSE_SECONDS = 10.0


class Restarts:
    """Counts deaths: more than five within a minute are too many, and so are more than five in a row before the
    process was ever ready (a slow starter would otherwise crash for ever)."""

    def __init__(self, first_pause_seconds: float = 0.5) -> None:
        self._first_pause_seconds = first_pause_seconds
        self._recent: list[float] = []
        self._never_ready = 0

    def pause_after_death(self, now: float, *, was_ready: bool) -> float | None:
        """Seconds to wait before the next start; None: give up. `now` is a monotonic time."""
        self._recent = [moment for moment in self._recent if now - moment < _WINDOW_SECONDS]
        self._recent.append(now)
        self._never_ready = 0 if was_ready else self._never_ready + 1
        deaths = max(len(self._recent), self._never_ready)
        if deaths > _MOST:
            return None
        return min(self._first_pause_seconds * 2.0 ** (deaths - 1), _LONGEST_PAUSE_SECONDS)
