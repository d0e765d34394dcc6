"""Cranfield: 1,400 abstracts, and questions with judged abstracts."""

from collections import defaultdict
from pathlib import Path

from benchmarks.datasets.files import read_json, shape_of
from benchmarks.datasets.library import Library, LibraryChunk, Sought

_NAME = "cranfield"
_LEAST_RELEVANT = 4


def load_cranfield(folder: Path) -> Library:
    """Each abstract is a chunk, under its title; empty ones are left out, and so is the last, made-up question (0).

    The set judges from 1, a complete answer, to 4, of minimum interest; here those are the grades 4 to 1.
    Raises BadData.
    """
    abstracts = read_json(folder, _NAME, "cranfield_data.json")
    asked = read_json(folder, _NAME, "cran.qry.json")
    judged = read_json(folder, _NAME, "cranqrel.json")
    with shape_of(_NAME, folder):
        chunks = [
            LibraryChunk(str(row["id"]), str(row["id"]), f"{row['title']}\n{row['body']}")
            for row in abstracts
            if row["body"].strip()
        ]
        grades: defaultdict[int, dict[str, int]] = defaultdict(dict)
        for row in judged:
            grades[int(row["query_num"])][row["id"]] = _LEAST_RELEVANT + 1 - row["position"]
        questions = [Sought(row["query"], grades[row["query number"]]) for row in asked if row["query number"]]
        return Library(tuple(chunks), tuple(questions))
