"""`preread bench load`: small runs of it, and how it counts."""

import asyncio
import json
from itertools import islice, pairwise, takewhile
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from benchmarks.bench_engine import BenchEngine
from benchmarks.corpus import HANDBOOK
from benchmarks.load.client import Heard
from benchmarks.load.compare import Step, figures
from benchmarks.load.figures import answers, memory, milliseconds, percentile
from benchmarks.load.rate import RateSearch
from benchmarks.load.table import compare_table, load_table
from benchmarks.load.traffic import arrivals, arriving
from benchmarks.main import bench

RATES = st.floats(0.01, 1000)


def run(*options: str):
    done = CliRunner().invoke(bench, ["load", *options, "--json"])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    assert {"model", "machine", "command"} <= result.keys()
    return result


def test_a_small_run_in_front_of_the_stub_answers_everything_and_ends_every_stream(tmp_path) -> None:
    for name in ("travel.md", "holidays.md"):
        (tmp_path / name).write_text((HANDBOOK / name).read_text())
    pages = ["--pages", str(tmp_path)]
    result = run("--rps", "10", "--duration", "3", "--seed", "1", "--streams", "24", *pages)
    expected = len(list(takewhile(lambda moment: moment < 3, arrivals(10, 1))))
    assert (result["engine"], result["rps"], result["requests"]) == ("stub", 10, expected)
    assert result["statuses"] == {"200": expected}
    assert (result["ends"], result["problems"], result["server_errors"]) == ({"done": expected}, {}, 0)
    for times in ("overhead_ms", "ttft_ms", "total_ms"):
        assert result[times]["n"] == expected
        assert 0 < result[times]["p50"] <= result[times]["p95"] <= result[times]["p99"]
    assert result["overhead_ms"]["p50"] < result["total_ms"]["p50"]
    assert result["memory"]["after_bytes"] > 0
    streams = result["streams"]
    assert (streams["asked"], streams["open_at_once"], streams["ends"]) == (24, 24, {"done": 24})
    assert load_table(result).row_count > 5


def test_fused_and_exact_are_compared_in_one_engine(shared_engine: BenchEngine) -> None:
    result = run(
        *("--compare", "--policy", "none", "--chunks", "1", "--chunk-tokens", "64", "--questions", "3"),
        *("--answer-tokens", "2", "--ttft-ms", "60000"),
    )
    found = result["compare"]
    assert found["policies"].keys() == {"exact", "none"}
    for row in found["policies"].values():
        assert row["steps"][0]["held"], "a minute is enough for anybody"
        assert row["rps"] == max(step["rps"] for step in row["steps"] if step["held"])
    assert found["ratio"] > 0
    assert compare_table(result).row_count == 2


def heard(status: int = 200, *, code: str = "", last: str = "done", total_s: float = 1.0, name: str = "req") -> Heard:
    return Heard(name, status, code, last, total_s / 2 if last == "done" else None, total_s)


def test_only_deliberate_503_are_no_server_errors_and_only_ended_streams_are_no_broken_ones() -> None:
    found = answers(
        [
            heard(),
            heard(last="error", code="engine_failed"),
            heard(last="delta"),
            heard(503, code="overloaded", last=""),
            heard(500, code="internal_error", last=""),
            heard(502, code="engine_failed", last=""),
            heard(0, code="ConnectError", last=""),
        ],
        {},
    )
    assert found["requests"] == 7
    assert found["statuses"] == {"0": 1, "200": 3, "500": 1, "502": 1, "503": 1}
    assert found["ends"] == {"done": 1, "error": 1, "broken": 1}
    assert found["problems"]["engine_failed"] == 2
    assert found["server_errors"] == 2
    assert (found["total_ms"]["n"], found["overhead_ms"]["n"]) == (1, 0)


def test_overhead_is_all_that_is_not_the_engines() -> None:
    found = answers([heard(total_s=0.5, name="a"), heard(total_s=0.3, name="b")], {"a": 0.4, "b": 0.25, "c": 9.0})
    assert (found["overhead_ms"]["p50"], found["overhead_ms"]["p99"]) == (50, 100)


@pytest.mark.parametrize(("percent", "value"), [(50, 10), (95, 19), (99, 20), (1, 1)])
def test_a_percentile_is_a_value_that_was_seen(percent: float, value: float) -> None:
    assert percentile(range(20, 0, -1), percent) == value


def test_nothing_measured_is_no_data() -> None:
    assert percentile([], 50) is None
    assert milliseconds([]) == {"n": 0, "p50": None, "p95": None, "p99": None}


def test_the_slope_of_memory_leaves_out_the_beginning() -> None:
    samples = [(0, 100), (100, 900_000), (250, 1_000_000), (500, 1_000_500), (1000, 1_001_500)]
    assert memory(samples) == {"before_bytes": 100, "after_bytes": 1_001_500, "slope_bytes_per_1000_requests": 2000}
    assert memory(samples[:1])["slope_bytes_per_1000_requests"] is None


def test_arrivals_are_the_same_for_a_seed_and_as_many_as_the_rate_says() -> None:
    one, other = (list(islice(arrivals(50, seed), 5000)) for seed in (1, 2))
    assert one == list(islice(arrivals(50, 1), 5000))
    assert one != other
    gaps = [later - earlier for earlier, later in pairwise(one)]
    assert min(gaps) > 0
    assert mean(gaps) == pytest.approx(1 / 50, rel=0.1)


async def test_a_question_waits_for_no_other() -> None:
    all_there = asyncio.Event()
    there: list[int] = []

    async def ask(number: int, _due: float) -> int:
        there.append(number)
        if len(there) == 5:
            all_there.set()
        await asyncio.wait_for(all_there.wait(), 30)
        return number

    assert await arriving([0.0, 0.001, 0.001, 0.002, 0.003], ask) == [0, 1, 2, 3, 4]


async def test_questions_end_with_whoever_asks_them() -> None:
    ended: list[int] = []

    async def ask(number: int, _due: float) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(number)

    asking = asyncio.create_task(arriving([0.0, 0.0, 600.0], ask))
    for _ in range(10):
        await asyncio.sleep(0)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert ended == [0, 1]


@given(RATES, RATES)
def test_the_rate_found_holds_and_hardly_more_does(first: float, capacity: float) -> None:
    search = RateSearch(first, factor=1.5, halvings=3, most_steps=60)
    tried = []
    while (rate := search.next) is not None:
        tried.append(rate)
        search.tell(rate <= capacity)
    assert len(tried) == len(set(tried)) < 60
    assert search.highest is not None
    assert search.highest <= capacity <= search.highest * 1.5 ** (1 / 2**3) * 1.0001
    with pytest.raises(ValueError, match="over"):
        search.tell(True)


def test_a_search_ends_where_nothing_holds_and_where_everything_does() -> None:
    for held in (True, False):
        search = RateSearch(1.0, most_steps=4)
        steps = 0
        while search.next is not None:
            search.tell(held)
            steps += 1
        assert steps == 4
        assert (search.highest is not None) is held


def test_the_ratio_is_of_the_rates_that_held_or_no_data() -> None:
    step = Step(1.0, True, 100.0, 40)
    found = figures(0.5, {"exact": 0.2, "impact": 0.1}, {"exact": 2.0, "impact": 9.0}, {"exact": [step], "impact": []})
    assert (found["ratio"], found["objective_ttft_ms"]) == (4.5, 500)
    assert found["policies"]["exact"]["steps"] == [{"rps": 1.0, "held": True, "p95_ms": 100.0, "n": 40}]
    none = figures(0.5, {"exact": 0.2, "impact": 0.1}, {"exact": None, "impact": 9.0}, {"exact": [], "impact": []})
    assert none["ratio"] is None
