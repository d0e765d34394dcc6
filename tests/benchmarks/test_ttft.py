"""`preread bench ttft`, run for real in its smallest form, and how it counts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.core.errors import BadInput
from benchmarks.corpus import chunks_of_text
from benchmarks.ttft import Sample, policy_names, summary
from generator.report import FusionReport

ROOT = Path(__file__).parents[2]
ROW_KEYS = {"ttft_s", "speedup", "load_s", "select_s", "recompute_s", "effective_recompute", "n"}


def sample(seconds: float, fresh: int = 0) -> Sample:
    return Sample(seconds, FusionReport("ask_1", "none", 100, 100 - fresh, fresh))


def test_the_smallest_run_prints_one_object_with_the_keys_that_all_benchmarks_share() -> None:
    options = ["--chunks", "2", "--chunk-tokens", "64", "--policies", "none,head@4", "--rounds", "1", "--json"]
    run = subprocess.run(
        [sys.executable, "-m", "app.cli.main", "bench", "ttft", *options],
        capture_output=True, text=True, cwd=ROOT, timeout=400, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert result["command"] == "preread bench ttft " + " ".join(options)
    assert "cores" in result["machine"]
    assert result["model"] == "smollm2-135m-instruct"
    assert list(result["policies"]) == ["exact", "none", "head@4"]
    assert all(row.keys() >= ROW_KEYS and row["not_fused"] is None for row in result["policies"].values())
    fresh = {name: row["effective_recompute"] for name, row in result["policies"].items()}
    assert fresh["exact"] == 1
    assert fresh["none"] == 0 < fresh["head@4"] < 1


def test_speedup_is_the_median_of_paired_ratios_not_the_ratio_of_medians() -> None:
    samples = {"exact": [sample(1), sample(10), sample(3)], "none": [sample(0.5), sample(1), sample(3)]}
    assert summary(samples, "none")["speedup"] == 2
    assert summary(samples, "none")["ttft_s"] == 1
    assert summary(samples, "exact")["speedup"] == 1


def test_exact_is_always_measured_and_first() -> None:
    assert policy_names("head@16,none") == ["exact", "head@16", "none"]


def test_a_policy_named_twice_is_refused() -> None:
    with pytest.raises(BadInput, match="twice"):
        policy_names("none,head,head@16")


class Letters:
    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def frame(self, system: str) -> None:
        raise AssertionError("cutting text needs no chat template")


def test_chunks_have_exactly_the_tokens_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("abcdef")
    (tmp_path / "b.txt").write_text("ghij")
    assert chunks_of_text(Letters(), tmp_path, 2, 4) == [list(b"abcd"), list(b"efgh")]  # type: ignore[arg-type]


def test_too_little_text_is_refused_with_both_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("abc")
    with pytest.raises(BadInput, match="3 tokens, 8"):
        chunks_of_text(Letters(), tmp_path, 2, 4)  # type: ignore[arg-type]
