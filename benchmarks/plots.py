"""Plots of benchmark results, as SVG files. matplotlib is loaded only where one is asked for."""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from app.core.errors import BadInput, SetupError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_INCHES = (8, 5)
_MARKERS = "os^v"


def check_plot(path: Path | None) -> None:
    """Raises BadInput or SetupError, before anything is measured, where no plot could be written at the end."""
    if path is None:
        return
    if path.suffix.lower() != ".svg" or not path.absolute().parent.is_dir():
        raise BadInput(f"{path} cannot hold a plot.", "Name a file ending in .svg, in a folder that exists.")
    if find_spec("matplotlib") is None:
        raise SetupError("Plots need matplotlib.", "Install Preread with its extra: bench.")


def plot_lines(path: Path, lines: Mapping[str, Sequence[tuple[float, float]]], x: str, y: str, title: str) -> None:
    """One line through its points for each entry of `lines`; the y axis is logarithmic."""
    figure, axes = _empty(x, y, title)
    for number, (name, points) in enumerate(lines.items()):
        at, values = [at for at, _ in points], [value for _, value in points]
        # Colours repeat after ten lines: then the marker tells.
        axes.plot(at, values, marker=_MARKERS[number // 10 % len(_MARKERS)], label=name)
    axes.set_yscale("log")
    figure.legend(loc="outside right upper")
    figure.savefig(path)


def plot_points(path: Path, points: Mapping[str, tuple[float, float]], x: str, y: str, title: str) -> None:
    """One point with its name for each entry of `points`; an axis is logarithmic where all its values are positive."""
    figure, axes = _empty(x, y, title)
    for name, place in points.items():
        axes.plot(*place, marker="o")
        axes.annotate(name, place, textcoords="offset points", xytext=(5, 5), fontsize="small")
    if all(at > 0 for at, _ in points.values()):
        axes.set_xscale("log")
    if all(value > 0 for _, value in points.values()):
        axes.set_yscale("log")
    figure.savefig(path)


def _empty(x: str, y: str, title: str) -> "tuple[Figure, Axes]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=_INCHES, layout="constrained")
    axes = figure.subplots()
    axes.set(xlabel=x, ylabel=y, title=title)
    axes.grid(visible=True, which="both", alpha=0.3)
    return figure, axes
