"""What people see of a result: every figure measured, and "no data" for what was not."""

from dataclasses import replace
from typing import Any

from rich.console import Console
from rich.table import Table
from test_verdicts import VERDICT

from benchmarks.context import Asked, Piece
from benchmarks.datasets import Question
from benchmarks.examiner import Examined
from benchmarks.gate_choice import REFERENCE, Bound
from benchmarks.gate_measured import REFERENCE_VARIANT, Measured
from benchmarks.gate_table import gate_table
from benchmarks.quality import report
from benchmarks.quality_table import quality_table
from benchmarks.ttft_table import slope_table, ttft_table
from benchmarks.variant import Variant
from generator.conditioning import Conditioning
from generator.gate import GateResult

SHARED = {"model": "tiny", "dtype": "float32", "machine": "one core", "command": "preread bench"}
IMPACT = Variant("impact@.08", Conditioning.NEUTRAL)
EXACT = Variant("exact", Conditioning.NEUTRAL)


def shown(table: Table) -> str:
    console = Console(width=240)
    with console.capture() as captured:
        console.print(table)
    return captured.get()


def examined() -> Examined:
    asked = Asked(Question("q/1", "?", (), ("red",)), (Piece((1, 2, 3), ()),))
    close = replace(VERDICT, kl_mean=0.0125, identical=1.0, ttft_s=0.25, effective_recompute=0.1)
    far = replace(VERDICT, kl_mean=0.5, ttft_s=0.5, effective_recompute=0.2)
    same = replace(VERDICT, kl_mean=0.0, identical=1.0, ttft_s=2.0, effective_recompute=1.0)
    floor = replace(VERDICT, kl_mean=0.001, identical=1.0)
    return Examined(asked, floor, {EXACT: same, IMPACT: close, REFERENCE_VARIANT: far})


def test_quality_shows_policies_the_floor_and_what_comes_from_outside() -> None:
    figure = {"value": 0.05, "low": 0.0, "high": 0.1, "n": 1}
    result: dict[str, Any] = {
        **SHARED, "set": "musique", "n": 1, "chunks": 1, "context_tokens": 3, "conditioning": "neutral",
        **report([examined()], [EXACT, IMPACT]),
        "baselines": {"prefix-cache": {"ttft": figure, "hit_share": figure}},
    }  # fmt: skip
    text = shown(quality_table(result))
    assert "impact@.08" in text
    assert "0.0125 (0.0125 to 0.0125)" in text
    assert "two exact runs" in text
    assert "prefix-cache (hits 5.0%)" in text
    assert "no data" in text
    assert "wrong: 100.0% (n = 1)" in text
    assert "No policy was measured with two amounts." in text


def test_the_gate_shows_what_was_chosen_and_on_what_grounds() -> None:
    measured = Measured({"musique": [examined()]})
    choice = measured.gate(Bound()).choose([measured.row(IMPACT)])
    assert (choice.row.policy, choice.within_bound) == ("impact@.08", True)
    rows = ({**measured.figures(each), "passes": each == IMPACT} for each in (REFERENCE_VARIANT, IMPACT))
    result = GateResult(
        "ab", "impact@.08", Conditioning.NEUTRAL, 0.08, 512,
        provenance={**SHARED, "within_bound": True, **measured.circumstances()}, table=tuple(rows),
    )  # fmt: skip
    text = shown(gate_table(result))
    assert "impact@.08, conditioning neutral (within the bound)" in text
    assert "0.0125 · 1.00 · 10.0%" in text
    assert REFERENCE in text
    assert "musique, n = 1" in text


def test_times_are_shown_with_their_units_and_unknown_slopes_as_no_data() -> None:
    row = {
        "ttft_s": 0.25, "speedup": 8.0, "load_s": 0.01, "select_s": 0.002, "recompute_s": 0.1,
        "effective_recompute": 0.08,
    }  # fmt: skip
    result = {**SHARED, "prompt_tokens": 99, "conditioning": "off", "rounds": 3, "policies": {"impact": row}}
    text = shown(ttft_table(result))
    assert all(part in text for part in ("0.250 s", "8.0", "10 ms", "2 ms", "100 ms", "8.0%", "median of 3 rounds"))
    slopes = {"exact": {"s_per_token": 0.002, "relative": 1.0}, "none": {"s_per_token": None, "relative": None}}
    text = shown(slope_table({"fresh_tokens": 256, "slopes": slopes}))
    assert all(part in text for part in ("256 fresh tokens", "2000", "1.00", "no data"))
