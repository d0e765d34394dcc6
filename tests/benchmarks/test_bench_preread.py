"""`preread bench preread`, run for real in its smallest form, and how it counts."""

import json

from typer.testing import CliRunner

from benchmarks.bench_engine import BenchEngine
from benchmarks.main import bench
from benchmarks.preread import Sample, figures


def test_a_small_run_tells_what_readings_cost(shared_engine: BenchEngine) -> None:
    options = ["preread", "--chunks", "1", "--chunk-tokens", "64", "--rounds", "1", "--json"]
    run = CliRunner().invoke(bench, options)
    assert run.exit_code == 0, run.output
    result = json.loads(run.stdout)
    assert {"model", "machine", "command"} <= result.keys()
    assert (result["conditioning"], result["n"], result["readings"]) == ("neutral", 1, 2)
    assert 0 < result["bare_s"] < result["stored_s"]


def test_multiples_are_medians_of_rounds_not_of_sums() -> None:
    found = figures([Sample(1, 4, 2), Sample(10, 20, 2), Sample(1, 5, 2)])
    assert (found["stored_times_bare"], found["speed_of_bare"]) == (4, 0.5)
    assert found["bare_s"] == 1
