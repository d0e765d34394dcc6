"""The model's own chat template, as token ids around a user message."""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from transformers import AutoTokenizer

_MARK = "\u2063user\u2063message\u2063"


class ChatTokenizer(Protocol):
    """What prompts need of a tokenizer. `encode` never yields control tokens, whatever the text holds."""

    def encode(self, text: str) -> list[int]: ...

    def frame(self, system: str) -> "ChatFrame": ...


@dataclass(frozen=True)
class ChatFrame:
    """Token ids before and after the user's message, up to where the answer begins."""

    head: tuple[int, ...]
    tail: tuple[int, ...]


class ModelTokenizer:
    """The tokenizer in a model folder."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = AutoTokenizer.from_pretrained(str(folder), local_files_only=True)

    def encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))

    def frame(self, system: str) -> ChatFrame:
        if self._tokenizer.chat_template is None:
            head, tail = f"{system}\n\n{_MARK}", "\n\n"
            rendered = head + tail
        else:
            messages = [{"role": "system", "content": system}, {"role": "user", "content": _MARK}]
            rendered = str(
                self._tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            )
        head, _, tail = rendered.partition(_MARK)
        return ChatFrame(self._control(head), self._control(tail))

    def _control(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False))
