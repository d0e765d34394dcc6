"""`preread bench chunking`: excerpts read by path, what chunks hold of them, and the command on a set of our own."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from app.core.errors import BadInput
from benchmarks.chunking import Found, Place, chunking, found_in, within
from benchmarks.datasets.excerpts import ExcerptQuestion, load_excerpts
from benchmarks.errors import BadData

ROOT = Path(__file__).parents[2]
BEES = "Bees fly from flower to flower. They bring pollen home. Honey keeps for centuries."
SHIPS = "Ships need deep water. A tug pulls them in. The pilot knows the harbour well."


def write_set(folder: Path, excerpt: str = "They bring pollen home.") -> Path:
    (folder / "corpora").mkdir(parents=True)
    (folder / "corpora" / "bees.md").write_text(BEES)
    (folder / "corpora" / "ships.md").write_text(SHIPS)
    start = BEES.index("They")
    reference = {"content": excerpt, "start_index": start, "end_index": start + len(excerpt)}
    with (folder / "questions_df.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["question", "references", "corpus_id"])
        writer.writerow(["What do bees bring home?", json.dumps([reference]), "bees"])
    return folder


def test_excerpts_are_read_with_their_documents(tmp_path: Path) -> None:
    texts, questions = load_excerpts(write_set(tmp_path))
    assert texts == {"bees": BEES, "ships": SHIPS}
    (question,) = questions
    ((start, end),) = question.excerpts
    assert (question.document, texts["bees"][start:end]) == ("bees", "They bring pollen home.")


def test_an_excerpt_that_stands_elsewhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="of bees are not the excerpt"):
        load_excerpts(write_set(tmp_path, excerpt="They bring honey."))


def test_a_folder_without_the_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadData, match="holds no corpora"):
        load_excerpts(tmp_path)


def test_another_file_is_refused(tmp_path: Path) -> None:
    write_set(tmp_path)
    (tmp_path / "questions_df.csv").write_text("question,answer\nwhat?,that\n")
    with pytest.raises(BadData, match="is not the chunking_evaluation set"):
        load_excerpts(tmp_path)


def test_chunks_are_taken_while_they_fit() -> None:
    ranked = [Place("bees", 0, 10, 60), Place("bees", 10, 20, 40), Place("bees", 20, 30, 1)]
    assert within(ranked, 100) == ranked[:2]
    assert within(ranked, 99) == ranked[:1]
    assert within(ranked, 59) == []


def test_recall_and_precision_count_characters_of_the_right_document() -> None:
    question = ExcerptQuestion("?", "bees", ((0, 10), (5, 20)))
    half = found_in(question, [Place("bees", 10, 40, 8), Place("ships", 0, 10, 3)])
    assert half == Found(recall=0.5, precision=0.25, whole=0.0)
    assert found_in(question, [Place("bees", 0, 20, 5)]) == Found(1.0, 1.0, 1.0)
    assert found_in(question, []) == Found(0.0, 0.0, 0.0)


def test_the_command_measures_every_size_at_every_budget(tmp_path: Path) -> None:
    result = run("--data", str(write_set(tmp_path)), "--sizes", "8,64", "--budgets", "10,200", "--json")
    assert result.returncode == 0, result.stderr
    rows = {(row["chunk_tokens"], row["budget"]): row for row in json.loads(result.stdout)["sizes"]}
    assert set(rows) == {(8, 10), (8, 200), (64, 10), (64, 200)}
    assert rows[8, 200]["whole"]["value"] == 1
    # The one chunk of the whole text does not fit.
    assert rows[64, 10]["recall"]["value"] == 0
    # One sentence of three, about bees and about pollen, was found first.
    assert rows[8, 10]["recall"]["value"] > 0.9
    assert rows[8, 10]["precision"]["value"] > rows[64, 200]["precision"]["value"]


def test_no_size_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="nothing to measure"):
        chunking(tmp_path, sizes="", budgets="1024")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app.cli.main", "bench", "chunking", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
