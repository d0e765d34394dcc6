"""What `preread bench retrieval` shows."""

from typing import Any

from rich.console import Console
from rich.table import Table


def show(result: dict[str, Any]) -> None:
    console = Console()
    console.print(_modes(result))
    if result["no_answer"]:
        console.print(_refusals(result))


def _modes(result: dict[str, Any]) -> Table:
    title = f"{result['set']}, {result['model']}: {result['chunks']} chunks, n = {result['n']}; mean (95 % interval)"
    reranked = f"; reranked by {result['reranker']}" if result["reranker"] else ""
    caption = f"{result['machine']}; embedding a question takes {result['embed_ms_p50']:.0f} ms beside{reranked}"
    names = list(next(iter(result["modes"].values())))
    table = Table("found by", *names, title=title, caption=caption)
    for mode, figures in result["modes"].items():
        table.add_row(mode, *(_shown(figures[name], 1 if name.startswith("ms") else 3) for name in names))
    return table


def _refusals(result: dict[str, Any]) -> Table:
    title = f"the nearest chunk must be near (min_score): n = {result['n']} with the answer, and without its document"
    table = Table("min_score", "answerable but refused", "unanswerable but not refused", title=title)
    for row in result["no_answer"]:
        table.add_row(str(row["min_score"]), f"{row['false_refusal']:.1%}", f"{row['false_answer']:.1%}")
    return table


def _shown(figure: dict[str, float], digits: int) -> str:
    return f"{figure['value']:.{digits}f} ({figure['low']:.{digits}f} to {figure['high']:.{digits}f})"
