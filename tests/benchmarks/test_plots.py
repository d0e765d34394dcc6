"""Plots are written as SVG, or refused before anything is measured."""

from pathlib import Path

import pytest

from app.core.errors import BadInput
from benchmarks.plots import check_plot, plot_lines, plot_points


@pytest.mark.parametrize("name", ["plot.png", "plot", "nowhere/plot.svg"])
def test_a_file_that_could_not_hold_the_plot_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput, match=name):
        check_plot(tmp_path / name)


def test_a_plot_that_can_be_written_is_not_refused(tmp_path: Path) -> None:
    check_plot(tmp_path / "plot.SVG")
    check_plot(None)


def test_lines_and_points_carry_their_names(tmp_path: Path) -> None:
    plot_lines(tmp_path / "lines.svg", {"exact": [(1, 2.0), (2, 4.0)], "none": [(1, 0.1)]}, "tokens", "s", "growth")
    plot_points(tmp_path / "points.svg", {"exact": (2.0, 0.0), "impact@.08": (0.2, 0.01)}, "s", "KL", "trade")
    for name in ("lines.svg", "points.svg"):
        assert (tmp_path / name).read_text().lstrip().startswith("<?xml")
    assert "impact@.08" in (tmp_path / "points.svg").read_text()
