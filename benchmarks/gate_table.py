"""A gate result as a table."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from generator.gate import GateResult


def gate_table(result: GateResult) -> Table:
    """One row for everything measured, one column for each question set; the chosen row is bold."""
    provenance = result.provenance
    met = "within the bound" if provenance["within_bound"] else "nothing was within the bound: the nearest"
    model = f"{provenance['model']} ({provenance['dtype']})"
    title = f"{model}: {result.policy}, conditioning {result.conditioning} ({met})"
    table = Table("policy", "conditioning", "kept", title=title, caption=provenance["machine"])
    for name, circumstances in provenance["sets"].items():
        table.add_column(f"{name}, n = {circumstances['n']}\nKL mean · identical · effective recompute")
    table.add_row("two exact runs", "", "", *(_floor(each["floor"]) for each in provenance["sets"].values()))
    for row in result.table:
        chosen = (row["policy"], row["conditioning"]) == (result.policy, str(result.conditioning))
        cells = [
            row["policy"],
            row["conditioning"],
            "yes" if row["passes"] else "no",
            *map(_cell, row["sets"].values()),
        ]
        table.add_row(*cells, style="bold" if chosen else None)
    return table


def _cell(figures: Mapping[str, Any]) -> str:
    return f"{_floor(figures)} · {figures['effective_recompute']['value']:.1%}"


def _floor(figures: Mapping[str, Any]) -> str:
    return f"{figures['kl_mean']['value']:.4f} · {figures['identical']['value']:.2f}"
