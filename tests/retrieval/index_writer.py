"""A process that changes an index without end, and says what it has done: for tests that kill it."""

import itertools
import sys
from pathlib import Path

from retrieval.index import IndexedChunk
from retrieval.qdrant_index import QdrantIndex

CHUNKS = 8


def document(number: int) -> list[IndexedChunk]:
    return [
        IndexedChunk(
            f"chk_{number}_{ordinal}", f"doc_{number}", "v", "acme", ordinal, f"bridge {number} {ordinal}",
            [1.0, number, ordinal],
        )
        for ordinal in range(CHUNKS)
    ]  # fmt: skip


def main(folder: Path, first: int) -> None:
    """Adds document after document, labels each, and deletes two of three."""
    index = QdrantIndex.open_local(folder, 3, "a-model")
    for number in itertools.count(first):
        print("add", number, flush=True)
        index.upsert(document(number))
        print("label", number, flush=True)
        index.label("acme", f"doc_{number}", ["kept"], [])
        if number % 3:
            print("delete", number - 1, flush=True)
            index.delete_document("acme", f"doc_{number - 1}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
