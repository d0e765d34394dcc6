"""`bench codec` as a table."""

from typing import Any

from rich.table import Table


def codec_table(result: dict[str, Any]) -> Table:
    title = (
        f"{result['model']} ({result['dtype']}), {result['set']}: n = {result['n']}, "
        f"chunks of {result['chunk_tokens']}, {result['context_tokens']} context tokens"
    )
    measured = ("ratio", "64 tokens", "error", "KL first", "KL mean", "agreement", "identical")
    caption = f"{result['machine']}; speeds on one core"
    table = Table("preset", *measured, "encode MB/s", "decode MB/s", title=title, caption=caption)
    for name, row in result["presets"].items():
        table.add_row(
            name,
            f"{row['ratio']:.2f}",
            f"{row['ratio_64_tokens']:.2f}",
            f"{row['relative_error']['value']:.3f}",
            *_closeness(row),
            f"{row['encode_mb_s']:.0f}",
            f"{row['decode_mb_s']:.0f}",
        )
    table.add_row("bfloat16, no codec", "1", "1", "", *_closeness(result["floor"]), "", "")
    return table


def _closeness(row: dict[str, Any]) -> list[str]:
    return [
        f"{row[name]['value']:.{digits}f} [{row[name]['low']:.{digits}f}, {row[name]['high']:.{digits}f}]"
        for name, digits in (("kl_first_token", 4), ("kl_mean", 4), ("greedy_agreement", 3), ("identical", 2))
    ]


__all__ = ["codec_table"]
