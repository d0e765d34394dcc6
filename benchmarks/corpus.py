"""Real text cut into chunks of an exact number of tokens."""

from itertools import pairwise
from pathlib import Path

from app.core.errors import BadInput
from benchmarks.context import Piece
from generator.chat import ChatTokenizer

HANDBOOK = Path(__file__).parent.parent / "examples" / "handbook"


def pieces_of_text(tokenizer: ChatTokenizer, folder: Path, context_tokens: int, chunk_tokens: int) -> list[Piece]:
    """Chunks of `chunk_tokens` token ids each, the last one shorter, that make `context_tokens` together.

    They are cut from the Markdown and text files of `folder` in name order, as if those were one document.
    Raises BadInput when the folder holds too little text.
    """
    ids: list[int] = []
    for path in sorted([*folder.rglob("*.md"), *folder.rglob("*.txt")]):
        ids += tokenizer.encode(path.read_text(encoding="utf-8"))
        if len(ids) >= context_tokens:
            break
    else:
        raise BadInput(
            f"{folder} holds {len(ids)} tokens, {context_tokens} are needed.", "Name a folder with more text."
        )
    edges = [*range(0, context_tokens, chunk_tokens), context_tokens]
    return [
        Piece(tuple(ids[start:end]), tuple(ids[max(0, start - chunk_tokens) : start])) for start, end in pairwise(edges)
    ]
