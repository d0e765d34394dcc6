"""Policies: how the fresh tokens of a fused request are chosen. Written `[alone:]NAME[@AMOUNT]`."""

import re
from dataclasses import dataclass, replace
from enum import StrEnum

from generator.errors import BadPolicy

DEFAULT_HEAD_TOKENS = 16
_TOKENS = re.compile("[0-9]{1,9}")
_SHARE = re.compile(r"0?\.[0-9]{1,6}|1(\.0{1,6})?")


class PolicyName(StrEnum):
    EXACT = "exact"
    NONE = "none"
    HEAD = "head"
    HKVD = "hkvd"
    IMPACT = "impact"


SCORED = frozenset({PolicyName.HKVD, PolicyName.IMPACT})
"""Policies that look at the loaded KV before they choose."""


@dataclass(frozen=True)
class Policy:
    """A parsed policy.

    `amount` is, for `head`, the number of tokens made fresh at the start of each chunk after the first; for `hkvd` and
    `impact`, the share of the reused tokens made fresh, in (0, 1], or None, which leaves it to the budget. The other
    policies have none. `alone` asks for opening readings in every place.
    """

    name: PolicyName
    amount: float | None = None
    alone: bool = False

    def __str__(self) -> str:
        amount = "" if self.amount is None else f"@{_written(self.amount)}"
        return f"{'alone:' if self.alone else ''}{self.name}{amount}"

    @property
    def scored(self) -> bool:
        return self.name in SCORED

    @property
    def follows(self) -> bool:
        """Whether what it leaves alone of a chunk moves with what it made fresh."""
        return self.name is PolicyName.IMPACT

    @property
    def wants_share(self) -> bool:
        """Whether it has a share of fresh tokens and names none."""
        return self.scored and self.amount is None

    def with_share(self, share: float) -> "Policy":
        """The same policy with this share of fresh tokens, where it has a share and names none."""
        return replace(self, amount=share) if self.wants_share else self


def parse_policy(text: str) -> Policy:
    """Read a policy as written. Raises BadPolicy when the name or the amount is not one we know."""
    prefix, colon, rest = text.strip().rpartition(":")
    if colon and prefix != "alone":
        raise _bad(text)
    name, at, amount = rest.partition("@")
    try:
        policy = PolicyName(name)
    except ValueError as error:
        raise _bad(text) from error
    if not at:
        return Policy(policy, DEFAULT_HEAD_TOKENS if policy is PolicyName.HEAD else None, bool(colon))
    if policy is PolicyName.HEAD and _TOKENS.fullmatch(amount):
        return Policy(policy, int(amount), bool(colon))
    if policy in SCORED and _SHARE.fullmatch(amount) and round(float(amount), 6) > 0:
        return Policy(policy, float(amount), bool(colon))
    raise _bad(text)


def _written(amount: float) -> str:
    return str(amount) if isinstance(amount, int) else f"{amount:.6f}".strip("0").rstrip(".")


def _bad(text: str) -> BadPolicy:
    return BadPolicy(
        f"“{text}” is not a policy.",
        "Use exact, none, head@TOKENS, impact@SHARE or hkvd@SHARE (a share of the tokens such as .08, 1 at most; "
        "the amount may be left out), optionally with alone: in front.",
    )
