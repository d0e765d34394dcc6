"""`preread bench ttft`, run for real in its smallest form, and how it counts."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.errors import BadInput
from benchmarks.answer import Answer
from benchmarks.corpus import pieces_of_text
from benchmarks.sweep import at_fixed_fresh, slopes_of, token_counts
from benchmarks.timing import times
from benchmarks.variant import policy_names
from generator.report import FusionReport

ROOT = Path(__file__).parents[2]
ROW_KEYS = {"ttft_s", "speedup", "load_s", "select_s", "recompute_s", "effective_recompute", "n"}


def answer(seconds: float) -> Answer:
    return Answer("yes", 2, seconds, FusionReport("ask_1", "none", 100, 100))


def test_the_smallest_run_prints_one_object_with_the_keys_that_all_benchmarks_share(tmp_path: Path) -> None:
    plot = tmp_path / "ttft.svg"
    options = ["--context-tokens", "64,128", "--chunk-tokens", "64", "--policies", "none,head@4", "--rounds", "1"]
    options += ["--conditioning", "neutral", "--plot", str(plot), "--json"]
    run = subprocess.run(
        [sys.executable, "-m", "app.cli.main", "bench", "ttft", *options],
        capture_output=True, text=True, cwd=ROOT, timeout=400, check=False,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert result["command"] == "preread bench ttft " + " ".join(options)
    assert "cores" in result["machine"]
    assert result["model"] == "smollm2-135m-instruct"
    assert [table["context_tokens"] for table in result["lengths"]] == [64, 128]
    for table in result["lengths"]:
        assert list(table["policies"]) == ["exact", "none", "head@4"]
        assert all(row.keys() >= ROW_KEYS and row["not_fused"] is None for row in table["policies"].values())
    fresh = {name: row["effective_recompute"] for name, row in result["lengths"][1]["policies"].items()}
    assert fresh["exact"] == 1
    assert fresh["none"] == 0 < fresh["head@4"] < 1
    assert result["slopes"]["exact"]["relative"] == pytest.approx(1)
    assert "head@4" in plot.read_text()


def test_speedup_is_the_median_of_paired_ratios_not_the_ratio_of_medians() -> None:
    exact, none = [answer(1), answer(10), answer(3)], [answer(0.5), answer(1), answer(3)]
    assert times(none, exact)["speedup"] == 2
    assert times(none, exact)["ttft_s"] == 1
    assert times(exact, exact)["speedup"] == 1


def test_exact_is_always_measured_and_first() -> None:
    assert policy_names("head@16,none") == ["exact", "head@16", "none"]


def test_a_policy_named_twice_is_refused() -> None:
    with pytest.raises(BadInput, match="twice"):
        policy_names("none,head,head@16")


@pytest.mark.parametrize("text", ["1k", "0", "-5", "1024;2048", "1.5", "²"])
def test_what_is_no_list_of_lengths_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="no list of numbers of tokens"):
        token_counts(text)


def test_lengths_are_taken_once_and_in_order() -> None:
    assert token_counts(" 2048, 1024,2048 ") == [1024, 2048]
    assert token_counts("") == []


@given(st.integers(1, 8192), st.integers(1, 8192))
def test_the_share_follows_the_context_so_that_as_many_tokens_are_fresh(context: int, fresh: int) -> None:
    (impact,) = at_fixed_fresh(["impact@.5"], context, fresh)
    share = float(impact.partition("@")[2])
    assert share * context == pytest.approx(min(fresh, context), abs=0.01)


def test_policies_without_a_share_stay_as_written() -> None:
    assert at_fixed_fresh(["exact", "none", "head@16", "alone:hkvd"], 1024, 256) == [
        "exact", "none", "head@16", "alone:hkvd@.25",
    ]  # fmt: skip


def test_policies_that_differ_in_nothing_but_their_share_are_refused() -> None:
    with pytest.raises(BadInput, match="differ only in their share"):
        at_fixed_fresh(["impact@.08", "impact@.15"], 1024, 256)


def test_slopes_are_found_by_place_since_shares_are_written_differently_at_each_length() -> None:
    def table(tokens: int, exact: float, impact: float) -> dict[str, object]:
        rows = {"exact": {"ttft_s": exact}, f"impact@{256 / tokens}": {"ttft_s": impact}}
        return {"context_tokens": tokens, "policies": rows}

    found = slopes_of(["exact", "impact"], [table(1000, 1, 0.2), table(2000, 3, 0.4)])
    assert found["exact"] == {"s_per_token": pytest.approx(0.002), "relative": pytest.approx(1)}
    assert found["impact"] == {"s_per_token": pytest.approx(0.0002), "relative": pytest.approx(0.1)}


class Letters:
    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def frame(self, system: str) -> None:
        raise AssertionError("cutting text needs no chat template")


def test_chunks_have_exactly_the_tokens_asked_for_and_know_what_precedes_them(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("abcdef")
    (tmp_path / "b.txt").write_text("ghij")
    pieces = pieces_of_text(Letters(), tmp_path, 9, 4)  # type: ignore[arg-type]
    assert [bytes(piece.ids) for piece in pieces] == [b"abcd", b"efgh", b"i"]
    assert [bytes(piece.before) for piece in pieces] == [b"", b"abcd", b"efgh"]


def test_too_little_text_is_refused_with_both_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("abc")
    with pytest.raises(BadInput, match="3 tokens, 8"):
        pieces_of_text(Letters(), tmp_path, 8, 4)  # type: ignore[arg-type]
