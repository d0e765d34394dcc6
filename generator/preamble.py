"""The preamble: the fixed start of every prompt, up to and including the first passage's number."""

from dataclasses import dataclass

from app.core.settings import Settings
from generator.chat import ChatTokenizer, TurnFrame
from kvstore.key import ids_hash

SYSTEM_PROMPT = "You are a helpful assistant. Answer the question in one short sentence from the passages given."


@dataclass(frozen=True)
class Preamble:
    """`tail` is the chat template's part after the question, `turns` what it puts around earlier answers, if it can."""

    ids: tuple[int, ...]
    tail: tuple[int, ...]
    turns: TurnFrame | None = None

    @property
    def hash(self) -> str:
        return ids_hash(self.ids)


def build_preamble(tokenizer: ChatTokenizer, settings: Settings) -> Preamble:
    """Chat template head, system prompt and introduction."""
    frame = tokenizer.frame(settings.system_prompt or SYSTEM_PROMPT)
    ids = frame.head + tuple(tokenizer.encode("Passages:\n\n[1] "))
    return Preamble(ids, frame.tail, frame.turns)
