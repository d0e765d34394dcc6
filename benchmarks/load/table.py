"""A load's result for people."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table


def load_table(result: Mapping[str, Any]) -> Table:
    title = f"{result['requests']} questions, {result['rps']:g} a second, engine: {result['engine']}"
    table = Table("", "p50", "p95", "p99", "n", title=title, caption=result["machine"])
    for name, row in (("all but the engine", "overhead_ms"), ("first word", "ttft_ms"), ("whole", "total_ms")):
        figures = result[row]
        if figures["n"]:
            table.add_row(name, *(f"{figures[f'p{percent}']:.1f} ms" for percent in (50, 95, 99)), str(figures["n"]))
    table.add_section()
    for name in ("statuses", "ends", "problems"):
        table.add_row(name, _listed(result[name]))
    table.add_row("5xx other than 503", str(result["server_errors"]))
    memory = result["memory"]
    slope = memory["slope_bytes_per_1000_requests"]
    grown = "no data" if slope is None else f"{slope / 2**20:+.1f} MiB per 1,000 questions"
    table.add_row("memory of web", f"{memory['after_bytes'] / 2**20:.0f} MiB, {grown}")
    if "streams" in result:
        streams = result["streams"]
        table.add_row("streams open at once", f"{streams['open_at_once']} of {streams['asked']}")
        table.add_row("how they ended", _listed(streams["ends"]))
        table.add_row("memory of each", f"{(streams['bytes_per_stream'] or 0) / 2**10:.0f} KiB")
    return table


def compare_table(result: Mapping[str, Any]) -> Table:
    found = result["compare"]
    title = (
        f"{result['model']} ({result['dtype']}): {result['chunks']} x {result['chunk_tokens']} tokens, the first word "
        f"within {found['objective_ttft_ms']:.0f} ms for {found['in_time_percent']} %"
    )
    ratio = "no data" if found["ratio"] is None else f"{found['ratio']:.1f}"
    table = Table("policy", "first word, alone", "questions a second", title=title, caption=f"ratio: {ratio}")
    for name, row in found["policies"].items():
        highest = "none" if row["rps"] is None else f"{row['rps']:.2f}"
        table.add_row(name, f"{row['ttft_alone_ms']:.0f} ms", highest)
    return table


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"
