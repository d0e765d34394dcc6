"""Policies: how the fresh tokens of a fused request are chosen. Written `[alone:]NAME[@AMOUNT]`."""

import re
from dataclasses import dataclass
from enum import StrEnum

from generator.errors import BadPolicy

DEFAULT_HEAD_TOKENS = 16


class PolicyName(StrEnum):
    EXACT = "exact"
    NONE = "none"
    HEAD = "head"


@dataclass(frozen=True)
class Policy:
    """A parsed policy.

    `amount` is, for `head`, the number of tokens made fresh at the start of each chunk after the first; the other
    policies have none. `alone` asks for opening readings in every place.
    """

    name: PolicyName
    amount: int = 0
    alone: bool = False

    def __str__(self) -> str:
        amount = f"@{self.amount}" if self.name is PolicyName.HEAD else ""
        return f"{'alone:' if self.alone else ''}{self.name}{amount}"


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
        return Policy(policy, DEFAULT_HEAD_TOKENS if policy is PolicyName.HEAD else 0, bool(colon))
    if policy is not PolicyName.HEAD or not re.fullmatch("[0-9]{1,9}", amount):
        raise _bad(text)
    return Policy(policy, int(amount), bool(colon))


def _bad(text: str) -> BadPolicy:
    return BadPolicy(
        f"“{text}” is not a policy.", "Use exact, none, head or head@TOKENS, optionally with alone: in front."
    )
