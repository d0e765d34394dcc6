"""Who is next, where more wait than can be served."""

from collections import OrderedDict, deque
from typing import Generic, TypeVar

T = TypeVar("T")


class Line(Generic[T]):
    """Those who wait, at most `limit`. Parties take turns; of one party whoever came first goes first.

    Where it is full, a newcomer takes the place of the last to come of the party that has most in line, if its own
    then has no more than that one. So nobody's flood keeps others out.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parties: OrderedDict[str, deque[T]] = OrderedDict()

    def __len__(self) -> int:
        return sum(map(len, self._parties.values()))

    def join(self, party: str, who: T) -> T | None:
        """Returns whoever has to go for it, which is `who` where there is no room; None: nobody."""
        gone: T | None = None
        if len(self) >= self._limit:
            longest = max(self._parties, key=lambda name: len(self._parties[name]), default=party)
            if len(self._parties.get(party, ())) + 1 >= len(self._parties.get(longest, ())):
                return who
            gone = self._parties[longest].pop()
        self._parties.setdefault(party, deque()).append(who)
        return gone

    def leave(self, party: str, who: T) -> None:
        """Take `who` out, where it is still in."""
        waiting = self._parties.get(party, ())
        if who in waiting:
            self._parties[party].remove(who)
            if not self._parties[party]:
                del self._parties[party]

    def next(self) -> T:
        """Take out whoever is next. Raises StopIteration where nobody waits."""
        party = next(iter(self._parties))
        waiting = self._parties[party]
        who = waiting.popleft()
        if waiting:
            self._parties.move_to_end(party)
        else:
            del self._parties[party]
        return who
