"""Variants as written: `READING:SELECTOR[@AMOUNT][+OPTION[=VALUE]]…`."""

import re
from dataclasses import dataclass, fields
from typing import Any

from app.core.errors import BadInput

SCORES = ("impact", "hkvd", "hkvdkv", "true", "random", "impact*hkvdkv", "impact*true", "impactv", "oracle")
SELECTORS = ("none", "head", "rest", "everything", "cacheblend-released", *SCORES)


@dataclass(frozen=True)
class Options:
    """How scores become positions.

    layers: over which the question's attention is summed, as `10`, `8-12`, `10.15.20` or `all`; unless given, the
        middle fifth.
    norm: attention shares of `all` visible tokens, of the `context`, or of the `candidates` alone.
    pool: over the question's tokens, `sum`, `max`, or the `last` token's alone.
    pick: over query heads, `sum` or `max`.
    smooth: width of the moving average over neighbours.  spread: width of the moving maximum.
    span: choose whole spans of that many tokens.  join: fill gaps of up to that many tokens between chosen ones.
    head: first tokens of each chunk that are always chosen.  shift: move the rest by the chosen tokens' mean change.
    follow: within the forward, move the rest of each chunk by its fresh tokens' mean change, values by that many
        percent of it; -1: not at all.  sample: one of so many chosen positions is of an even sample, 0: none.
    stages: choose in that many steps, looking again after each.
    ahead: so many tokens of the exact answer ask beside the question, which no real system can know; 0: none.
    on: `FIRST-LAST/N`: before each of these tokens of the answer N thousandths of the context are made fresh, chosen
        by what each token so far looked at, from the question's last on; empty: not at all.
    patch: take the chosen positions from the exact run instead of recomputing them over the mixture; 2: keys alone,
        3: values alone.
    """

    layers: str = ""
    norm: str = "all"
    pool: str = "sum"
    pick: str = "sum"
    smooth: int = 1
    spread: int = 1
    span: int = 1
    join: int = 0
    head: int = 0
    shift: int = 0
    follow: int = -1
    sample: int = 0
    stages: int = 1
    ahead: int = 0
    on: str = ""
    patch: int = 0


@dataclass(frozen=True)
class Variant:
    """`amount`: for `head`, and `rest` (what is not the head), tokens a chunk; else a share of the context's tokens."""

    text: str
    reading: str
    selector: str
    amount: float
    options: Options


def parse_variant(text: str) -> Variant:
    """Raises BadInput."""
    found = re.fullmatch(r"([^:]+):([a-z*-]+)(?:@([0-9.]+))?((?:\+[a-z]+(?:=[^+]+)?)*)", text)
    if not found or found[2] not in SELECTORS:
        raise BadInput(f"“{text}” is not a variant.", f"Write READING:SELECTOR@AMOUNT; selectors: {SELECTORS}.")
    amount = float(found[3] or {"head": "16", "rest": "16", "cacheblend-released": ".16"}.get(found[2], ".15"))
    return Variant(text, found[1], found[2], amount, _options(text, found[4]))


def layer_numbers(text: str, layers: int) -> list[int]:
    """The layers that `Options.layers` names, of a model with `layers` layers."""
    if text == "all":
        return list(range(layers))
    if not text:
        return list(range(layers * 2 // 5, layers * 3 // 5))
    numbers: list[int] = []
    for part in text.split("."):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def _options(text: str, written: str) -> Options:
    known = {field.name: field.type for field in fields(Options)}
    values: dict[str, Any] = {}
    for part in written.split("+")[1:]:
        name, equals, value = part.partition("=")
        if name not in known:
            raise BadInput(f"“{text}”: {name} is not an option.", f"Options: {', '.join(known)}.")
        values[name] = value if known[name] is str else int(value if equals else "1")
    return Options(**values)
