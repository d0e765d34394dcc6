"""`preread bench gate`, run for real on two questions, and what it asks about."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from app.core.errors import BadInput
from app.core.settings import Settings
from benchmarks.bench_engine import BenchEngine
from benchmarks.documents import chunks_of_folder, chunks_of_service
from benchmarks.errors import BadData
from benchmarks.gate import candidate_variants
from benchmarks.gate_sources import Sources
from benchmarks.made_up import first_question
from benchmarks.main import bench
from benchmarks.variant import Variant
from generator.conditioning import Conditioning
from generator.gate import read_gate


def test_a_small_run_writes_a_result_that_the_service_can_use(
    shared_engine: BenchEngine, musique: Path, tmp_path: Path
) -> None:
    options = ["gate", "--data", str(musique), "--set", "musique", "--n", "1", "--text", str(musique / "own")]
    (musique / "own").mkdir()
    (musique / "own" / "leave.md").write_text("Everybody has thirty days of leave each year. Ask Dora about it.")
    options += ["--policies", "none,impact@1", "--conditionings", "off,document", "--answer-tokens", "8"]
    options += ["--calibrate", "1", "--chunks", "3", "--chunk-tokens", "64", "--folder", str(tmp_path), "--json"]
    run = CliRunner().invoke(bench, options)
    assert run.exit_code == 0, run.output
    printed = json.loads(run.stdout)
    assert {"model", "machine", "command", "policy", "conditioning", "floor", "table", "path"} <= printed.keys()
    fingerprint = shared_engine.status.fingerprint
    kept = read_gate(Path(printed["path"]), fingerprint)
    assert Path(printed["path"]) == tmp_path / f"{fingerprint}.json"
    assert (kept.policy, kept.chunk_tokens, kept.measured) == (printed["policy"], 64, True)
    assert kept.provenance["data"] == "musique (n = 1), text (n = 1)"
    assert kept.provenance["bound"] == {
        "kl_share": 0.5, "identical_points": 0.1, "most_computed": 0.1, "reference": "alone:hkvd@.15",
    }  # fmt: skip
    measured = {(row["policy"], row["conditioning"]) for row in kept.table}
    assert measured == {
        ("alone:hkvd@.15", "off"), ("none", "off"), ("none", "document"), ("impact@1", "off"), ("impact@1", "document")
    }  # fmt: skip
    tried = [row["layers"] for row in kept.provenance["layers"]]
    assert tried[0] == []
    assert len(tried) > 1
    full = next(row for row in kept.table if row["policy"] == "impact@1")
    assert full["sets"]["musique"]["kl_mean"]["value"] < 0.02
    assert full["sets"].keys() == {"musique", "text"}
    assert full["sets"]["text"]["f1"]["n"] == 0


def test_candidates_are_every_policy_behind_every_passage_but_alone_ones_once() -> None:
    off, neutral = Conditioning.OFF, Conditioning.NEUTRAL
    assert candidate_variants("exact,none,alone:head@4", "off,neutral") == [
        Variant("none", off), Variant("none", neutral), Variant("alone:head@4", off),
    ]  # fmt: skip


def test_conditionings_that_are_none_are_refused_with_those_there_are() -> None:
    with pytest.raises(BadInput, match="sometimes") as refused:
        candidate_variants("none", "off,sometimes")
    assert "off, neutral, document" in refused.value.hint


def test_exact_alone_is_no_candidate() -> None:
    with pytest.raises(BadInput, match="no candidate"):
        candidate_variants("exact", "off")


def test_there_must_be_something_to_ask_about_and_a_set_for_every_folder(musique: Path) -> None:
    with pytest.raises(BadInput, match="nothing to ask about"):
        Sources.named([], [], None, service=False)
    with pytest.raises(BadInput, match="1 folders and 0 sets"):
        Sources.named([musique], [], None, service=False)


class Words:
    """A token a word."""

    def encode(self, text: str) -> list[int]:
        return list(range(len(text.split())))

    def frame(self, system: str) -> None:
        raise AssertionError("cutting text needs no chat template")


def test_a_folder_of_text_is_cut_as_the_service_would_and_chunks_know_what_precedes_them(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("One two three four. " * 6)
    (tmp_path / "b.txt").write_text("Short.")
    chunks = chunks_of_folder(tmp_path, Words(), 12)  # type: ignore[arg-type]
    assert [chunk.name for chunk in chunks] == ["a.md/0", "a.md/1", "b.txt/0"]
    assert [len(chunk.piece.before) for chunk in chunks] == [0, 12, 0]


def test_a_folder_without_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="holds no text"):
        chunks_of_folder(tmp_path, Words(), 12)  # type: ignore[arg-type]


def test_a_service_without_documents_is_refused_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="holds no documents") as refused:
        chunks_of_service(Settings(state_dir=tmp_path))
    assert "preread add" in refused.value.hint


@pytest.mark.parametrize(
    ("said", "question"),
    [
        ("Who is it?\nAnd more", "Who is it?"),
        ("\n\n  What? Why?", "What?"),
        ("Tell me about Oslo", "Tell me about Oslo"),
        ("?", ""),
        (" \n ", ""),
    ],
)
def test_a_made_up_question_is_the_first_one_said(said: str, question: str) -> None:
    assert first_question(said) == question
