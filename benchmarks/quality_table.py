"""`bench quality` as a table."""

from typing import Any

from rich.table import Table


def quality_table(result: dict[str, Any]) -> Table:
    """One row a policy, then the floor. Figures are shown with their 95 % intervals where those matter most."""
    title = (
        f"{result['model']} ({result['dtype']}), {result['set']}: n = {result['n']}, {result['chunks']:.1f} chunks, "
        f"{result['context_tokens']:.0f} context tokens, conditioning {result['conditioning']}"
    )
    wrong = result["exact_wrong"]
    caption = (
        f"{result['machine']}. The exact run's own answer is wrong: {_share(wrong)} (n = {wrong['n']}). "
        f"{_rises(result['rises'])}"
    )
    columns = (
        "policy",
        "KL mean",
        "KL first",
        "identical",
        "agreement",
        "F1",
        "F1 to exact",
        "norm. F1",
        "TTFT",
        "fresh",
    )
    table = Table(*columns, "effective recompute", title=title, caption=caption)
    for policy, row in result["policies"].items():
        costs = (_seconds(row["ttft"]), _share(row["effective_recompute"]))
        table.add_row(*_quality(policy, row), _number(row["normalised_f1"]), *costs)
    table.add_row(*_quality("two exact runs", result["floor"]), "", "", "")
    for name, row in result["baselines"].items():
        if "hit_share" in row:
            table.add_row(f"{name} (hits {_share(row['hit_share'])})", *[""] * 7, _seconds(row["ttft"]), "")
        else:
            table.add_row(*_quality(name, row), "", "", _share(row["effective_recompute"]))
    return table


def _rises(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return "No policy was measured with two amounts."
    falls = [f"{row['measure']} from {row['smaller']} to {row['larger']}" for row in rows if row["falls"]]
    return f"A larger amount is worse: {', '.join(falls)}." if falls else "No larger amount is worse beyond noise."


def _quality(name: str, row: dict[str, Any]) -> list[str]:
    return [
        name,
        _spread(row["kl_mean"], 4),
        _spread(row["kl_first_token"], 4),
        _spread(row["identical"], 2),
        _spread(row["greedy_agreement"], 2),
        _spread(row["f1"], 2),
        _spread(row["f1_vs_exact"], 2),
    ]


def _spread(figure: dict[str, Any], digits: int) -> str:
    if figure["value"] is None:
        return "no data"
    value, low, high = (f"{figure[key]:.{digits}f}" for key in ("value", "low", "high"))
    return f"{value} ({low} to {high})"


def _number(figure: dict[str, Any]) -> str:
    return "no data" if figure["value"] is None else f"{figure['value']:.2f}"


def _share(figure: dict[str, Any]) -> str:
    return "no data" if figure["value"] is None else f"{figure['value']:.1%}"


def _seconds(figure: dict[str, Any]) -> str:
    return "no data" if figure["value"] is None else f"{figure['value']:.3f} s"
