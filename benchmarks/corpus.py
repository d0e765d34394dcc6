"""Real text cut into chunks of an exact number of tokens."""

from pathlib import Path

from app.core.errors import BadInput
from generator.chat import ChatTokenizer

HANDBOOK = Path(__file__).parent.parent / "examples" / "handbook"


def chunks_of_text(tokenizer: ChatTokenizer, folder: Path, count: int, tokens: int) -> list[list[int]]:
    """`count` chunks of `tokens` token ids each, from the Markdown and text files of `folder` in name order.

    Raises BadInput when the folder holds too little text.
    """
    ids: list[int] = []
    for path in sorted([*folder.rglob("*.md"), *folder.rglob("*.txt")]):
        ids += tokenizer.encode(path.read_text())
        if len(ids) >= count * tokens:
            return [ids[at : at + tokens] for at in range(0, count * tokens, tokens)]
    raise BadInput(f"{folder} holds {len(ids)} tokens, {count * tokens} are needed.", "Name a folder with more text.")
