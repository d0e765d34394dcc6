"""The language model's tokenizer, from the model's own folder."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from tokenizers import Tokenizer

from retrieval.errors import TokenizerUnavailable

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


class TokenEncoder(Protocol):
    """What chunking needs of a tokenizer."""

    def encode(self, text: str) -> list[int]:
        """Token ids of `text` alone: no special tokens are added."""
        ...


class LanguageTokenizer:
    """Encodes untrusted text and chat markup differently.

    `encode` reads the names of special tokens (`<|im_end|>`) as ordinary characters, so that no document or question
    can end its turn in the prompt; `encode_markup` reads them as the tokens they name. Safe in several threads.
    """

    def __init__(self, serialized: str, chat: "PreTrainedTokenizerBase") -> None:
        """`serialized` is the content of a `tokenizer.json`; `chat` renders conversations."""
        self._text = _bare(serialized)
        self._text.encode_special_tokens = True
        self._markup = _bare(serialized)
        self._chat = chat

    @property
    def chat_template(self) -> str | None:
        """The model's Jinja template for conversations, None for a base model."""
        template = self._chat.chat_template
        return template if isinstance(template, str) else None

    @property
    def end_token_id(self) -> int | None:
        token_id = self._chat.eos_token_id
        return token_id if isinstance(token_id, int) else None

    def encode(self, text: str) -> list[int]:
        return list(self._text.encode(text, add_special_tokens=False).ids)

    def encode_markup(self, text: str) -> list[int]:
        return list(self._markup.encode(text, add_special_tokens=False).ids)

    def decode(self, token_ids: Sequence[int]) -> str:
        """The text of ids, with special tokens by name."""
        return self._markup.decode(list(token_ids), skip_special_tokens=False)

    def render_chat(self, messages: Sequence[Mapping[str, str]], *, answer: bool = True) -> str:
        """Messages (`role`, `content`) in the model's markup; with `answer`, up to where its next turn begins.

        Raises: TokenizerUnavailable if the model has no chat template, or one that refuses these roles.
        """
        from jinja2 import TemplateError

        try:
            rendered = self._chat.apply_chat_template(
                [dict(message) for message in messages], tokenize=False, add_generation_prompt=answer
            )
        except (TemplateError, ValueError) as error:
            raise TokenizerUnavailable(
                f"The model's chat template cannot be used: {error}", "Choose an instruction-tuned model."
            ) from error
        return str(rendered)


def load_tokenizer(folder: Path) -> LanguageTokenizer:
    """The tokenizer of a model's folder; nothing is downloaded and no code of the folder is run.

    Raises: TokenizerUnavailable.
    """
    # Importing transformers takes seconds, and chunking needs the protocol alone.
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    hint = "Choose a model folder that holds tokenizer.json."
    try:
        loaded = AutoTokenizer.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False)
    except (OSError, ValueError, KeyError) as error:
        raise TokenizerUnavailable(f"No tokenizer can be loaded from {folder}.", hint) from error
    if not isinstance(loaded, PreTrainedTokenizerFast):
        raise TokenizerUnavailable(f"{folder} has a slow tokenizer only.", hint)
    return LanguageTokenizer(loaded.backend_tokenizer.to_str(), loaded)


def _bare(serialized: str) -> Tokenizer:
    tokenizer = Tokenizer.from_str(serialized)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer
