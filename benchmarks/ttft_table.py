"""`bench ttft` as tables."""

from typing import Any

from rich.table import Table


def ttft_table(result: dict[str, Any]) -> Table:
    """One row a policy, at one context length."""
    title = (
        f"{result['model']} ({result['dtype']}): {result['prompt_tokens']} prompt tokens, "
        f"conditioning {result['conditioning']}, median of {result['rounds']} rounds"
    )
    columns = ("policy", "TTFT", "times sooner", "load", "select", "recompute", "effective recompute")
    table = Table(*columns, title=title, caption=result["machine"])
    for name, row in result["policies"].items():
        table.add_row(
            name,
            f"{row['ttft_s']:.3f} s",
            f"{row['speedup']:.1f}",
            f"{row['load_s'] * 1000:.0f} ms",
            f"{row['select_s'] * 1000:.0f} ms",
            f"{row['recompute_s'] * 1000:.0f} ms",
            f"{row['effective_recompute']:.1%}",
        )
    return table


def slope_table(result: dict[str, Any]) -> Table:
    """What a token of context adds to the time to first token, `fresh_tokens` being fresh at every length."""
    table = Table("policy", "ms for 1,000 tokens", "of exact's", title=f"{result['fresh_tokens']} fresh tokens")
    for name, row in result["slopes"].items():
        rise, relative = row["s_per_token"], row["relative"]
        table.add_row(
            name,
            "no data" if rise is None else f"{rise * 1e6:.0f}",
            "no data" if relative is None else f"{relative:.2f}",
        )
    return table
