"""The highest rate that holds, found in few steps."""


class RateSearch:
    """Steps up by a factor while rates hold, or down until one does; then halves the gap a few times.

        while (rate := search.next) is not None:
            search.tell(holds(rate))

    What holds at one rate is taken to hold at every lower one.
    """

    def __init__(self, first: float, *, factor: float = 1.5, halvings: int = 2, most_steps: int = 10) -> None:
        self.highest: float | None = None
        """That held; None while none has."""
        self.next: float | None = first
        """To be tried; None when the search is over."""
        self._lowest_lost: float | None = None
        self._factor = factor
        self._halvings = halvings
        self._steps_left = most_steps

    def tell(self, held: bool) -> None:
        """Whether `next` held. Raises ValueError when the search is over."""
        if self.next is None:
            raise ValueError("the search is over")
        self._steps_left -= 1
        if held:
            self.highest = self.next
        else:
            self._lowest_lost = self.next
        self.next = self._following() if self._steps_left > 0 else None

    def _following(self) -> float | None:
        if self.highest is None:
            return None if self._lowest_lost is None else self._lowest_lost / self._factor
        if self._lowest_lost is None:
            return self.highest * self._factor
        if self._halvings == 0:
            return None
        self._halvings -= 1
        return float((self.highest * self._lowest_lost) ** 0.5)
