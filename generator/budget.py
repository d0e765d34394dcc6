"""Budget: what share of the reused tokens a request that names none has made fresh."""

from dataclasses import dataclass, field

_WEIGHT = 0.2


@dataclass
class Budget:
    """Keeps the recompute of a request hidden behind its load where it can.

    floor: share under which this model's answers suffer; never gone below.
    ceiling: share that is never exceeded.
    Learns the seconds that a fresh token takes from what it is told, as an exponential average.
    """

    floor: float
    ceiling: float
    _token_s: float | None = field(default=None, init=False)

    @property
    def token_s(self) -> float | None:
        """Seconds that a fresh token takes; None while nothing has been measured."""
        return self._token_s

    def share(self, load_s: float, tokens: int) -> float:
        """The largest share of `tokens` that is computed within `load_s` seconds, between floor and ceiling.

        The ceiling while nothing has been measured.
        """
        if self._token_s is None:
            return self.ceiling
        hidden = load_s / (self._token_s * max(tokens, 1))
        return min(max(hidden, self.floor), max(self.ceiling, self.floor))

    def observe(self, recompute_s: float, tokens: int) -> None:
        """One recompute of `tokens` took `recompute_s` seconds."""
        if tokens <= 0:
            return
        seen = recompute_s / tokens
        self._token_s = seen if self._token_s is None else (1 - _WEIGHT) * self._token_s + _WEIGHT * seen
