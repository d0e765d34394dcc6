"""What chunking needs of the language model's tokenizer."""

from typing import Protocol


class TokenEncoder(Protocol):
    def encode(self, text: str) -> list[int]:
        """Token ids of `text` alone: no control tokens, whatever the text holds."""
