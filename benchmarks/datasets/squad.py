"""Sets in SQuAD's format as a library: every paragraph is a chunk of its article, and answers its own questions."""

from pathlib import Path

from benchmarks.datasets.files import read_json, shape_of
from benchmarks.datasets.library import Library, LibraryChunk, Sought

_TITLE_END = " [SEP] "


def load_squad(name: str, folder: Path, pattern: str) -> Library:
    """JSQuAD writes the article's title before each paragraph; it is left out. Raises BadData."""
    articles = read_json(folder, name, pattern)
    chunks, questions = [], []
    with shape_of(name, folder):
        for number, article in enumerate(articles["data"]):
            document = f"article {number}"
            for ordinal, paragraph in enumerate(article["paragraphs"]):
                chunk = f"{document}, paragraph {ordinal}"
                text = paragraph["context"].rpartition(_TITLE_END)[2]
                chunks.append(LibraryChunk(chunk, document, text))
                questions += [Sought(entry["question"], {chunk: 1}, document) for entry in paragraph["qas"]]
        return Library(tuple(chunks), tuple(questions))
