"""Which files of a folder are documents."""

from pathlib import PurePath

SUFFIXES = frozenset(
    {
        ".pdf", ".docx", ".pptx", ".xlsx", ".epub", ".eml", ".html", ".htm", ".xhtml", ".md", ".markdown", ".mdown",
        ".mkd", ".rst", ".rest", ".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".txt", ".text",
    }
)  # fmt: skip


def is_document(path: PurePath) -> bool:
    """Whether a file at this path within a folder is one: of a known type, and nothing of the path is hidden."""
    return path.suffix.lower() in SUFFIXES and not any(part.startswith(".") for part in path.parts)
