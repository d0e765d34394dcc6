"""`preread bench retrieval`: sets read by path, the measures, and the command on sets of our own."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.datasets.cranfield import load_cranfield
from benchmarks.datasets.excerpt_library import load_excerpt_library
from benchmarks.datasets.squad import load_squad
from benchmarks.errors import BadData
from benchmarks.retrieval_measures import hit, ndcg, recall, refusals

ROOT = Path(__file__).parents[2]
BEES = "Bees fly from flower to flower and bring pollen home."
SHIPS = "Ships need deep water, and a tug pulls them in."
BRIDGES = "The bridge was built in 1932 by 300 people."


def write(folder: Path, **files: Any) -> Path:
    folder.mkdir(exist_ok=True)
    for name, body in files.items():
        (folder / f"{name}.json").write_text(json.dumps(body))
    return folder


def squad(folder: Path, name: str = "xquad.en", title: str = "") -> Path:
    asked = {BEES: "What do bees bring home?", SHIPS: "What pulls ships in?", BRIDGES: "When was the bridge built?"}
    articles = [
        {"paragraphs": [{"context": title + text, "qas": [{"question": question, "id": "1", "answers": []}]}]}
        for text, question in asked.items()
    ]
    return write(folder, **{name: {"data": articles}})


def cranfield(folder: Path) -> Path:
    abstracts = [{"id": 1, "title": "bees .", "body": BEES}, {"id": 2, "title": "", "body": ""},
                 {"id": 3, "title": "ships .", "body": SHIPS}]  # fmt: skip
    asked = [{"query number": 1, "query": "where do bees fly ."}, {"query number": 0, "query": 0}]
    judged = [
        {"query_num": "1", "position": 1, "id": "1"},
        {"query_num": "1", "position": 4, "id": "3"},
    ]
    return write(folder, cranfield_data=abstracts, **{"cran.qry": asked}, cranqrel=judged)


def test_cranfield_is_read_without_its_empty_abstracts_and_its_last_question(tmp_path: Path) -> None:
    library = load_cranfield(cranfield(tmp_path))
    assert [chunk.name for chunk in library.chunks] == ["1", "3"]
    (question,) = library.questions
    assert question.relevant == {"1": 4, "3": 1}


def test_a_squad_set_is_read_with_its_own_paragraph_as_the_answer(tmp_path: Path) -> None:
    library = load_squad("jsquad", squad(tmp_path, "valid-v1.3", title="題 [SEP] "), "valid*.json")
    assert [chunk.text for chunk in library.chunks] == [BEES, SHIPS, BRIDGES]
    assert [list(question.relevant) for question in library.questions] == [[chunk.name] for chunk in library.chunks]
    assert len({question.document for question in library.questions}) == 3


def test_an_excerpts_chunks_are_those_that_hold_a_part_of_it(tmp_path: Path) -> None:
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "bees.md").write_text("One two. Three four. Five six.")
    reference = json.dumps([{"content": "two. Three", "start_index": 4, "end_index": 14}]).replace('"', '""')
    (tmp_path / "questions_df.csv").write_text(f'question,references,corpus_id\nWhat?,"{reference}",bees\n')

    class Words:
        def encode(self, text: str) -> list[int]:
            return [1] * len(text.split())

    library = load_excerpt_library(tmp_path, Words(), 2)
    assert [chunk.text for chunk in library.chunks] == ["One two.", "Three four.", "Five six."]
    assert library.questions[0].relevant == {"bees 0": 1, "bees 1": 1}


@pytest.mark.parametrize("load", [load_cranfield, lambda folder: load_squad("xquad", folder, "xquad*.json")])
def test_a_folder_without_the_set_is_refused(tmp_path: Path, load: Any) -> None:
    with pytest.raises(BadData, match="holds no"):
        load(tmp_path)


def test_another_file_of_that_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="is not the xquad set"):
        load_squad("xquad", write(tmp_path, xquad={"data": [{"rows": []}]}), "xquad*.json")


def test_the_measures_of_a_ranking() -> None:
    relevant = {"a": 4, "b": 1}
    assert ndcg(["a", "b"], relevant, 10) == pytest.approx(1.0)
    assert ndcg(["x", "a"], relevant, 10) == pytest.approx((4 / 1.58496) / (4 + 1 / 1.58496), abs=1e-4)
    assert ndcg(["x", "a"], relevant, 1) == 0
    assert [hit(["a"], relevant), hit(["x", "a"], relevant), hit([], relevant)] == [1, 0, 0]
    assert [recall(["x", "a"], relevant, 2), recall(["x", "a"], relevant, 1)] == [0.5, 0]


def test_refusals_are_counted_on_both_sides() -> None:
    assert refusals([0.2, 0.5, 0.6, 0.7], [0.1, 0.4], 0.4) == {
        "min_score": 0.4, "false_refusal": 0.25, "false_answer": 0.5,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["xquad", "cranfield"])
def test_the_command_compares_the_ways_of_searching(tmp_path: Path, name: str) -> None:
    folder = squad(tmp_path) if name == "xquad" else cranfield(tmp_path)
    command = ["bench", "retrieval", "--data", str(folder), "--set", name, "--json"]
    run = subprocess.run(
        [sys.executable, "-m", "app.cli.main", *command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert {"model", "machine", "command", "n", "chunks"} <= result.keys()
    assert list(result["modes"]) == ["hybrid", "rrf", "dense", "sparse"]
    for figures in result["modes"].values():
        assert list(figures) == ["ndcg@10", "hit@1", "recall@6", "ms_p50", "ms_p95"]
        assert figures["hit@1"]["value"] == 1
        assert figures["recall@6"]["n"] == result["n"]
    assert bool(result["no_answer"]) == (name == "xquad")


def test_a_library_may_be_filled_up_to_be_timed(tmp_path: Path) -> None:
    command = [
        "bench",
        "retrieval",
        "--data",
        str(squad(tmp_path)),
        "--set",
        "xquad",
        "--mode",
        "hybrid",
        "--scale",
        "40",
    ]
    run = subprocess.run(
        [sys.executable, "-m", "app.cli.main", *command, "--json"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    result = json.loads(run.stdout)
    assert result["chunks"] == 40
    assert result["no_answer"] == []
    assert result["modes"]["hybrid"]["hit@1"]["n"] == 3
