"""`preread bench interference`, run for real in its smallest form, and how it counts."""

import json

import pytest
from typer.testing import CliRunner

from benchmarks.bench_engine import BenchEngine
from benchmarks.interference import Round, figures
from benchmarks.main import bench


def test_a_small_run_asks_with_and_without_pre_reading(shared_engine: BenchEngine) -> None:
    options = ["interference", "--chunks", "1", "--chunk-tokens", "64", "--questions", "2", "--rounds", "1", "--json"]
    run = CliRunner().invoke(bench, options)
    assert run.exit_code == 0, run.output
    result = json.loads(run.stdout)
    assert {"model", "machine", "command"} <= result.keys()
    assert (result["n"], result["rounds"]) == (2, 1)
    assert min(result["idle_ttft_s"], result["beside_ttft_s"]) > 0


def test_a_round_is_compared_with_itself() -> None:
    slow = Round((1.0, 2.0, 3.0), (2.0, 4.0, 6.0), 1.0)
    quick = Round((0.1, 0.1, 0.1), (0.1, 0.1, 0.4), 3.0)
    found = figures([slow, quick, quick])
    assert found["times_idle"] == pytest.approx(1)
    assert (found["n"], found["beside_longest_s"], found["readings_a_second"]) == (9, 6.0, 3.0)
