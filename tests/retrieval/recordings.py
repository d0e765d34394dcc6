"""What we send to a Qdrant server in each of our calls, written down in `recorded/`.

A test compares it with what we send now. After a change that is meant, write it down anew and look at the difference:

    PYTHONPATH=tests .venv/bin/python tests/retrieval/recordings.py
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from qdrant_client.models import Distance, VectorParams
from qdrant_server import QdrantServer

from retrieval.index import IndexedChunk, Scope, SearchMode
from retrieval.nearness import Question
from retrieval.qdrant_index import QdrantIndex

FOLDER = Path(__file__).parent / "recorded"

_CHUNKS = [
    IndexedChunk("chk_1_0", "doc_1", "ver_1", "acme", 0, "The bridge.", [1.0, 0.0, 0.0], ["handbook"], ["b", "a"]),
    IndexedChunk("chk_2_0", "doc_2", "ver_2", "acme", 0, "The river.", [0.0, 1.0, 0.0]),
]
_QUESTION = Question("Which bridge?", [1.0, 0.5, 0.0])
_SCOPE = Scope(("doc_1", "doc_2"), ("handbook",), ("a", "c"))

_CALLS: dict[str, Callable[[QdrantIndex], object]] = {
    "check": lambda index: index.check(3),
    "upsert": lambda index: index.upsert(_CHUNKS),
    **{f"search_{mode}": lambda index, mode=mode: index.search("acme", _QUESTION, 3, mode=mode) for mode in SearchMode},
    "search_in_scope": lambda index: index.search("acme", _QUESTION, 3, _SCOPE),
    "label": lambda index: index.label("acme", "doc_1", ["press"], []),
    "count": lambda index: index.count("acme"),
    "count_of_document": lambda index: index.count("acme", "doc_1"),
    "holdings": lambda index: index.holdings(index.holdings(limit=1).after, limit=1),
    "missing": lambda index: index.missing(["chk_1_0", "chk_3_0"]),
    "delete_version": lambda index: index.delete_version("acme", "doc_1", "ver_1"),
    "delete_document": lambda index: index.delete_document("acme", "doc_2"),
    "count_older": lambda index: index.count_older("acme"),
    "forget_older_of_document": lambda index: index.forget_older("acme", "doc_9"),
    "forget_older": lambda index: index.forget_older("acme"),
}


def recorded() -> dict[str, str]:
    """The requests of each call as JSON, by name; the calls are made one after the other on one server."""
    server = QdrantServer()
    server.behind.create_collection("chunks", VectorParams(size=3, distance=Distance.COSINE))
    written: dict[str, str] = {}

    def write(name: str) -> None:
        written[name] = json.dumps([asked.as_json() for asked in server.asked], indent=1) + "\n"
        server.asked.clear()

    try:
        index = QdrantIndex.connect(server.url, 3, "a-model")
        write("connect")
        for name, call in _CALLS.items():
            call(index)
            write(name)
        index.close()
    finally:
        server.stop()
    return written


def main() -> None:
    for path in FOLDER.glob("*.json"):
        path.unlink()
    for name, text in recorded().items():
        (FOLDER / f"{name}.json").write_text(text)


if __name__ == "__main__":
    sys.exit(main())
