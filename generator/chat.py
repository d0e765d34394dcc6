"""The language model's tokenizer and chat template: token ids around a user's message."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from jinja2 import TemplateError
from tokenizers import Tokenizer
from transformers import AutoTokenizer, PreTrainedTokenizerBase, PreTrainedTokenizerFast

from generator.errors import TokenizerUnavailable

_QUESTION, _ANSWER, _NEXT = (f"\u2063{which}\u2063message\u2063" for which in ("user", "answer", "next"))
_MARKS = re.compile(f"{_QUESTION}|{_ANSWER}|{_NEXT}")


@dataclass(frozen=True)
class TurnFrame:
    """Token ids between a user's message and the answer it got, and between that and the user's next message."""

    before_answer: tuple[int, ...]
    before_question: tuple[int, ...]


@dataclass(frozen=True)
class ChatFrame:
    """Token ids before the user's first message and after the last one, up to where the answer begins.

    `turns`: what stands around earlier answers; None: the chat template shows none.
    """

    head: tuple[int, ...]
    tail: tuple[int, ...]
    turns: TurnFrame | None = None


class ChatTokenizer(Protocol):
    """What prompts need of a tokenizer."""

    def encode(self, text: str) -> list[int]:
        """Token ids of `text` alone; names of control tokens in it are ordinary characters."""

    def frame(self, system: str) -> ChatFrame: ...


class ModelTokenizer:
    """The tokenizer in a model's folder. Safe in several threads.

    `encode` reads the names of control tokens (`<|im_end|>`) as ordinary characters, so that no document or question
    can end its turn in the prompt; only the chat template's own text is read as the tokens it names.

    Raises TokenizerUnavailable. Nothing is downloaded, and no code of the folder is run.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._chat = _load(folder)
        self._text = _bare(self._chat)
        self._text.encode_special_tokens = True
        self._markup = _bare(self._chat)

    def encode(self, text: str) -> list[int]:
        return list(self._text.encode(text, add_special_tokens=False).ids)

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of an answer, control tokens left out."""
        return str(self._markup.decode(list(token_ids), skip_special_tokens=True))

    def frame(self, system: str) -> ChatFrame:
        """The chat template around a user's messages; a model without one gets plain paragraphs.

        A template that refuses system messages gets the system prompt at the start of the user's.
        Raises TokenizerUnavailable when the template loses the message.
        """
        head, *tail = _MARKS.split(self._render(system, [_QUESTION]))
        if len(tail) != 1:
            raise TokenizerUnavailable(
                f"The chat template in {self._folder} does not show the user's message as it is.",
                "Choose another instruction-tuned model.",
            )
        return ChatFrame(self._control(head), self._control(tail[0]), self._turns(system, head, tail[0]))

    def _turns(self, system: str, head: str, tail: str) -> TurnFrame | None:
        """None where the template does not put an earlier turn between the same head and tail."""
        try:
            rendered = self._render(system, [_QUESTION, _ANSWER, _NEXT])
        except TokenizerUnavailable:
            return None
        if _MARKS.findall(rendered) != [_QUESTION, _ANSWER, _NEXT]:
            return None
        before, answer, question, after = _MARKS.split(rendered)
        if (before, after) != (head, tail):
            return None
        return TurnFrame(self._control(answer), self._control(question))

    def _render(self, system: str, texts: Sequence[str]) -> str:
        """`texts` are the user's and the assistant's, in turn."""
        if self._chat.chat_template is None:
            return "\n\n".join([system, *texts, ""])
        try:
            return self._apply([{"role": "system", "content": system}, *_messages(texts)])
        except (TemplateError, ValueError):
            pass
        try:
            return self._apply(_messages([f"{system}\n\n{texts[0]}", *texts[1:]]))
        except (TemplateError, ValueError) as error:
            raise TokenizerUnavailable(
                f"The chat template in {self._folder} cannot be used: {error}", "Choose an instruction-tuned model."
            ) from error

    def _apply(self, messages: list[dict[str, str]]) -> str:
        return str(self._chat.apply_chat_template(messages, tokenize=False, add_generation_prompt=True))

    def _control(self, text: str) -> tuple[int, ...]:
        return tuple(self._markup.encode(text, add_special_tokens=False).ids)


def _messages(texts: Sequence[str]) -> list[dict[str, str]]:
    return [
        {"role": "assistant" if place % 2 else "user", "content": text} for place, text in enumerate(texts)
    ]


def _load(folder: Path) -> PreTrainedTokenizerFast:
    hint = "Choose a model folder that holds tokenizer.json."
    try:
        loaded: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
            str(folder), local_files_only=True, trust_remote_code=False
        )
    except (OSError, ValueError, KeyError) as error:
        raise TokenizerUnavailable(f"No tokenizer can be loaded from {folder}.", hint) from error
    if not isinstance(loaded, PreTrainedTokenizerFast):
        raise TokenizerUnavailable(f"{folder} has a slow tokenizer only.", hint)
    return loaded


def _bare(tokenizer: PreTrainedTokenizerFast) -> Tokenizer:
    copy = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
    copy.no_truncation()
    copy.no_padding()
    return copy
