"""`preread bench quality`, run for real on two questions."""

import asyncio
import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from benchmarks.answer import Tracer
from benchmarks.bench_engine import BenchEngine
from benchmarks.context import Piece
from benchmarks.divergence import kl
from benchmarks.main import bench
from benchmarks.tenants import own_tenant
from benchmarks.verdict import Said
from generator.engine import EngineClient

MEANS = {"f1", "em", "f1_vs_exact", "greedy_agreement", "identical", "kl_first_token", "kl_mean"}
FIGURE = {"value", "low", "high", "n"}


def test_a_small_run_gives_every_key_with_its_interval(shared_engine: BenchEngine, musique: Path) -> None:
    plot = musique / "plot.svg"
    options = ["quality", "--data", str(musique), "--set", "musique", "--n", "2", "--chunks", "3"]
    options += ["--policies", "alone:none,none,impact@1", "--conditioning", "neutral", "--answer-tokens", "12"]
    run = CliRunner().invoke(bench, [*options, "--baselines", "", "--plot", str(plot), "--json"])
    assert run.exit_code == 0, run.output
    result = json.loads(run.stdout)
    assert {"model", "machine", "command", "policies", "floor", "exact_wrong"} <= result.keys()
    assert (result["n"], result["chunks"], result["conditioning"]) == (2, 3, "neutral")
    assert list(result["policies"]) == ["exact", "alone:none", "none", "impact@1"]
    for row in result["policies"].values():
        assert row.keys() == MEANS | {"normalised_f1", "ttft", "effective_recompute"}
        assert all(figure.keys() == FIGURE for figure in row.values())
        assert all(row[name]["n"] == 2 for name in MEANS)
    assert result["floor"].keys() == MEANS
    exact, reused, full = (result["policies"][name] for name in ("exact", "alone:none", "impact@1"))
    assert (exact["identical"]["value"], exact["kl_mean"]["value"]) == (1, 0)
    assert full["kl_mean"]["value"] < 0.02 < reused["kl_mean"]["value"]
    assert full["effective_recompute"]["value"] > 0.5
    assert reused["effective_recompute"]["value"] == 0
    assert "impact@1" in plot.read_text()


def test_a_question_that_cannot_be_asked_is_named(shared_engine: BenchEngine, musique: Path) -> None:
    rows = json.loads((musique / "musique_s.json").read_text())
    rows[1]["question"] = "why " * 3000
    (musique / "musique_s.json").write_text(json.dumps(rows))
    options = ["quality", "--data", str(musique), "--set", "musique", "--policies", "none", "--answer-tokens", "2"]
    run = CliRunner().invoke(bench, [*options, "--baselines", ""])
    assert run.exit_code != 0
    assert "musique/1" in str(run.exception)


@pytest.fixture(scope="module")
def answers(engine: BenchEngine) -> dict[str, Said]:
    """A free answer, the same again, and one that was made to say other tokens first."""
    piece = Piece(tuple(engine.tokenizer.encode("The sky over the old town was green that night.")), ())
    prompt = engine.prompt([piece], "What colour was the sky?", 16)

    async def run() -> dict[str, Said]:
        client = EngineClient(engine.client.url)
        tracer = Tracer(client, engine.traces, steps=8)
        _, free = await tracer.ask(prompt, "exact", own_tenant(), 12)
        _, again = await tracer.ask(prompt, "exact", own_tenant(), 8, free.tokens)
        other = [*engine.tokenizer.encode("Purple, I am told,")]
        _, forced = await tracer.ask(prompt, "exact", own_tenant(), 12, other)
        await client.aclose()
        return {"free": free, "again": again, "forced": forced}

    return asyncio.run(run())


def test_distributions_are_whole_and_as_many_as_asked_for(answers: dict[str, Said]) -> None:
    assert answers["free"].logprobs.shape == (8, 49152)
    assert answers["free"].logprobs.dtype == np.float32
    assert np.exp(answers["free"].logprobs.astype(np.float64)).sum(-1) == pytest.approx(np.ones(8), abs=1e-4)


def test_made_to_say_what_it_says_anyway_it_has_the_same_distributions(answers: dict[str, Said]) -> None:
    assert answers["again"].tokens == answers["free"].tokens
    assert kl(answers["free"].logprobs, answers["again"].logprobs).max() < 1e-6


def test_made_to_say_something_else_it_says_it_and_keeps_the_distribution_it_had_before(
    answers: dict[str, Said],
) -> None:
    assert answers["forced"].text.startswith("Purple, I am told,")
    difference = kl(answers["free"].logprobs, answers["forced"].logprobs)
    assert difference[0] < 1e-6
    assert difference[1] > 0.1


def test_no_trace_is_left_behind(engine: BenchEngine, answers: dict[str, Said]) -> None:
    assert list(engine.traces.iterdir()) == []
