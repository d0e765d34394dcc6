"""`bench store` as tables."""

from typing import Any

from rich.table import Table


def store_tables(result: dict[str, Any]) -> list[Table]:
    return [_withstood(result), _lookups(result["lookups"]), _replay(result["replay"])]


def _withstood(result: dict[str, Any]) -> Table:
    table = Table("", "tried", "came out wrong", "else amiss", "", title=f"{result['machine']}, seed {result['seed']}")
    mutations, kills = result["mutations"], result["kills"]
    table.add_row(
        "damaged blobs",
        str(mutations["tried"]),
        str(len(mutations["wrong"])),
        str(len(mutations["kept"]) + len(mutations["crashed"])),
        f"slowest {mutations['slowest_s'] * 1000:.0f} ms",
    )
    table.add_row(
        "kills",
        str(sum(kills["kills"].values())),
        str(len(kills["wrong"]) + len(kills["partial"])),
        str(kills["leased"] + kills["failed"]),
        f"at most {kills['most_over_bytes']} bytes over the limit; a blob has {kills['largest_blob_bytes']}",
    )
    return table


def _lookups(lookups: dict[str, Any]) -> Table:
    table = Table("looking up 32 chunks", "ms", title="Finding")
    table.add_row("disk", f"{lookups['disk_ms']:.2f}")
    table.add_row("Redis and disk", f"{lookups['redis_and_disk_ms']:.2f}")
    reading = lookups["reading"]
    table.add_row(f"a file of {reading['blob_bytes']} bytes", f"{reading['file_ms']:.2f}")
    table.add_row("the same through the store, verified", f"{reading['store_ms']:.2f}")
    return table


def _replay(rows: list[dict[str, Any]]) -> Table:
    table = Table("exponent", "value: compute saved", "LRU", "of seconds", title="Replay")
    for row in rows:
        value, lru = row["value"], row["lru"]
        table.add_row(
            f"{row['exponent']:g}", f"{value['share']:.1%}", f"{lru['share']:.1%}", f"{value['of_seconds']:.0f}"
        )
    return table


__all__ = ["store_tables"]
