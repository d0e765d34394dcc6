"""How far a text can go before it has too many tokens."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from retrieval.tokenizer import TokenEncoder

_MOST_ESTIMATES = 6
_REACH = 1.5
_MERGED_AT_THE_CUT = 8


class FurthestEnd(NamedTuple):
    end: int
    token_ids: list[int]


class Ruler:
    """Measures `text` from `start` on, in tokens, up to `max_tokens`.

    Every length is a real encoding. Where to look next is estimated, from `characters_per_token` at first and from
    the lengths seen since, which takes about three encodings.
    """

    def __init__(
        self, text: str, start: int, tokenizer: TokenEncoder, max_tokens: int, characters_per_token: float
    ) -> None:
        self._text = text
        self._start = start
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._guess = start + max_tokens * characters_per_token
        self._measured: dict[int, list[int]] = {}

    def token_ids(self, end: int) -> list[int]:
        """The tokens of `text[start:end]`; moves the guess to where `max_tokens` would be reached."""
        if end not in self._measured:
            self._measured[end] = self._tokenizer.encode(self._text[self._start : end])
        token_ids = self._measured[end]
        characters_per_token = (end - self._start) / max(1, len(token_ids))
        self._guess = end + (self._max_tokens - len(token_ids)) * characters_per_token
        return token_ids

    def furthest(self, ends: Sequence[int], slack_tokens: int = 0) -> FurthestEnd | None:
        """The last of `ends` (ascending) that `max_tokens` reach, None if none.

        With slack, one of the last: it leaves at most `slack_tokens` unused.
        """
        fits, over = bisect_right(ends, self._start) - 1, len(ends)
        found: FurthestEnd | None = None
        least_reach, tries = 1, 0
        while fits + 1 < over and (found is None or len(found.token_ids) + slack_tokens < self._max_tokens):
            index = bisect_right(ends, self._guess) - 1 if tries < _MOST_ESTIMATES else (fits + over) // 2
            index = min(max(index, fits + 1), over - 1)
            # A part that is far too long spares encoding all the rest of a text without any of these ends.
            reach = max(least_reach, int(_REACH * (self._guess - self._start)))
            end = min(ends[index], self._start + reach)
            token_ids = self.token_ids(end)
            if len(token_ids) > self._max_tokens + (_MERGED_AT_THE_CUT if end < ends[index] else 0):
                over = index
            elif end == ends[index]:
                fits, found = index, FurthestEnd(end, token_ids)
            else:
                least_reach = 2 * reach
            tries += 1
        return found
