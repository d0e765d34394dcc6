"""The user's own documents as chunks: those of the running service, or a folder of text."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.core.catalog import Catalog
from app.core.settings import Settings
from benchmarks.context import Piece
from benchmarks.errors import BadData
from generator.chat import ChatTokenizer
from retrieval.chunking import split
from retrieval.parsing import ParsedDocument


@dataclass(frozen=True)
class OwnChunk:
    """`name` tells people which chunk of which document it is."""

    name: str
    piece: Piece


def chunks_of_service(settings: Settings) -> list[OwnChunk]:
    """The chunks that answer questions now. Raises BadData when there are none."""
    hint = "Add documents first (preread add PATH…), or name a folder of text with --text."
    if not settings.database_url and not (settings.state_dir / "preread.db").is_file():
        raise BadData(f"{settings.state_dir} holds no documents.", hint)
    catalog = Catalog(settings.effective_database_url)
    try:
        found = [
            chunk
            for document in catalog.published_documents(settings.tenant)
            if document.current_version_id
            for chunk in _in_order(
                [
                    (f"{document.name}/{each.ordinal}", each.token_ids)
                    for each in catalog.chunks_of(document.current_version_id)
                ]
            )
        ]
    finally:
        catalog.close()
    if not found:
        raise BadData("The service has no documents that answer questions.", hint)
    return found


def chunks_of_folder(folder: Path, tokenizer: ChatTokenizer, chunk_tokens: int) -> list[OwnChunk]:
    """The Markdown and text files below `folder`, cut as the service would. Raises BadData when there are none."""
    found = []
    for path in sorted([*folder.rglob("*.md"), *folder.rglob("*.txt")]):
        parsed = ParsedDocument(title="", media_type="text/plain", text=path.read_text(encoding="utf-8"))
        chunks = split(parsed, tokenizer, chunk_tokens)
        found += _in_order([(f"{path.name}/{each.ordinal}", each.token_ids) for each in chunks])
    if not found:
        raise BadData(f"{folder} holds no text.", "Name a folder with .md or .txt files.")
    return found


def _in_order(chunks: Sequence[tuple[str, Sequence[int]]]) -> list[OwnChunk]:
    """One document's chunks, each knowing the one before."""
    before: Sequence[int] = ()
    found = []
    for name, ids in chunks:
        found.append(OwnChunk(name, Piece(tuple(ids), tuple(before))))
        before = ids
    return found
