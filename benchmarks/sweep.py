"""Several context lengths in one run, with as many fresh tokens at each."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.core.errors import BadInput
from benchmarks.slopes import relative_slopes, slope
from benchmarks.variant import EXACT
from generator.policy import SCORED, parse_policy


def token_counts(text: str) -> list[int]:
    """Ascending numbers of tokens from a comma-separated list; empty for none. Raises BadInput."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not all(part.isascii() and part.isdigit() and int(part) > 0 for part in parts):
        raise BadInput(f"“{text}” is no list of numbers of tokens.", "Write them like 1024,2048,4096.")
    return sorted({int(part) for part in parts})


def at_fixed_fresh(policies: Sequence[str], context_tokens: int, fresh_tokens: int) -> list[str]:
    """The policies with shares such that `fresh_tokens` of the context become fresh; others stay as written.

    Raises BadInput where two of them are the same then.
    """
    share = min(1.0, fresh_tokens / context_tokens)
    parsed = [parse_policy(policy) for policy in policies]
    fixed = [str(replace(policy, amount=share) if policy.name in SCORED else policy) for policy in parsed]
    if len(set(fixed)) != len(fixed):
        raise BadInput(
            f"{', '.join(policies)}: some of these differ only in their share.",
            "With --context-tokens the share follows from --fresh-tokens: name each policy once.",
        )
    return fixed


def slopes_of(policies: Sequence[str], tables: Sequence[dict[str, Any]]) -> dict[str, dict[str, float | None]]:
    """For each policy the seconds that a token of context adds, and that ÷ exact's.

    tables: one a length, each with `context_tokens` and a row for every policy in the order of `policies`.
    """
    lengths = [table["context_tokens"] for table in tables]
    rises = {
        policy: slope(lengths, [list(table["policies"].values())[place]["ttft_s"] for table in tables])
        for place, policy in enumerate(policies)
    }
    relative = relative_slopes(rises, EXACT)
    return {policy: {"s_per_token": rises[policy], "relative": relative[policy]} for policy in policies}
