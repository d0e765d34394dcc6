"""Passages ordered by a model that reads each together with the question: a cross-encoder, on the CPU."""

from collections.abc import Sequence
from threading import Lock

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from app.core.settings import Settings
from retrieval.errors import RerankerUnavailable
from retrieval.model_folder import model_folder

_BATCH = 8
_MOST_TOKENS = 512


class Reranker:
    """Says how well passages answer a question; threads take turns.

        reranker = Reranker("cross-encoder/ms-marco-MiniLM-L6-v2", candidates=20)
        scores = reranker.scores("When was the bridge built?", ["In 1932.", "It is long."])

    Of question and passage together the model reads the first 512 tokens, or as many as it can.
    """

    def __init__(self, model: str, candidates: int) -> None:
        """Load a sequence-classification model with one output: a folder, or a Hugging Face id, which is downloaded.

        `candidates`: how many passages are worth ordering for a question. Raises: RerankerUnavailable.
        """
        self.candidates = candidates
        try:
            folder = model_folder(model)
            self._tokenizer = AutoTokenizer.from_pretrained(folder)
            self._model = AutoModelForSequenceClassification.from_pretrained(folder, dtype=torch.float32).eval()
        except Exception as error:  # the libraries below raise a dozen kinds, down to plain Exception
            raise RerankerUnavailable(
                f"The reranker {model} cannot be loaded: {error}",
                "Set PREREAD_RERANKER to a local folder or a Hugging Face id of a cross-encoder, or to nothing.",
            ) from error
        outputs = self._model.config.num_labels
        if outputs != 1:
            raise RerankerUnavailable(
                f"The model {model} has {outputs} outputs; a reranker has one.",
                "Set PREREAD_RERANKER to a cross-encoder, or to nothing.",
            )
        positions = getattr(self._model.config, "max_position_embeddings", _MOST_TOKENS)
        self._most_tokens = min(_MOST_TOKENS, self._tokenizer.model_max_length, positions)
        self._turn = Lock()

    def scores(self, question: str, texts: Sequence[str]) -> list[float]:
        """One score for each text, the higher the better; they compare only with each other."""
        scores: list[float] = []
        with self._turn, torch.inference_mode():
            for start in range(0, len(texts), _BATCH):
                batch = texts[start : start + _BATCH]
                encoded = self._tokenizer(
                    [question] * len(batch),
                    list(batch),
                    padding=True,
                    truncation="longest_first",
                    max_length=self._most_tokens,
                    return_tensors="pt",
                )
                scores += self._model(**encoded).logits[:, 0].tolist()
        return scores


def open_reranker(settings: Settings) -> Reranker | None:
    """The one that is set, None where none is. Raises: RerankerUnavailable."""
    return Reranker(settings.reranker, settings.rerank_candidates) if settings.reranker else None
