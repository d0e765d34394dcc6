"""A baseline from outside: CacheBlend as its released code does it, on the configured model without an engine.

Chunk KV read alone, value deviation at layer 1, 16 % of the tokens, layers 0 and 1 in full, and a mask aligned to the
bottom right, by which scattered tokens see the future. Compared with the exact run of the same dense float32 model: its
noise floor is 0. For quality only.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from benchmarks.context import Asked
from benchmarks.examiner import STEPS
from benchmarks.lab.cache import ScatterCache
from benchmarks.lab.dense import DenseModel
from benchmarks.lab.exact import ExactRun, forced, run_exact
from benchmarks.lab.fusing import Fusing
from benchmarks.lab.library import Library
from benchmarks.lab.variant import parse_variant
from benchmarks.verdict import Said, Verdict, verdict
from benchmarks.verdicts import cost, quality
from generator.chat import ModelTokenizer
from generator.preamble import Preamble

NAME = "cacheblend-released"
_VARIANT = parse_variant("alone:cacheblend-released@.16")
_FULL_LAYERS = 2


class Released:
    """Answers the questions that the engine answered, with the same token ids."""

    def __init__(self, folder: Path, tokenizer: ModelTokenizer, preamble: Preamble, answer_tokens: int) -> None:
        self._model = DenseModel.load(folder)
        self._tokenizer = tokenizer
        self._preamble = preamble
        self._library = Library(self._model, tokenizer, preamble)
        self._answer_tokens = answer_tokens

    def ask_all(self, questions: Sequence[Asked], step: Callable[[], object]) -> dict[str, Any]:
        """The figures of a policy's row, but for its time."""
        found = []
        for asked in questions:
            found.append(self._judge(asked))
            step()
        return {**quality(found), "effective_recompute": cost(found)["effective_recompute"]}

    def _judge(self, asked: Asked) -> Verdict:
        model, question = self._model, asked.question.text
        exact = run_exact(model, self._tokenizer, self._preamble, asked.pieces, question, self._answer_tokens)
        fused = Fusing(model, exact, self._library.base(exact, _VARIANT.reading))(_VARIANT)
        free = self._said(*self._answer(exact, fused.cache))
        steps = forced(model, exact, fused.cache)[:STEPS].numpy()
        found = verdict(asked.question.answers, self._said(exact.answer, exact.log_probabilities), free, steps)
        later = model.layers - _FULL_LAYERS
        return replace(found, effective_recompute=(_FULL_LAYERS + later * fused.fresh) / model.layers)

    def _answer(self, exact: ExactRun, context: ScatterCache) -> tuple[Tensor, Tensor]:
        """Greedy tokens (steps,) and the log-probabilities before each, over a context's keys and values."""
        cache = context.copy(len(exact.ids) + self._answer_tokens)
        ids, at = exact.question, exact.context
        tokens: list[int] = []
        rows: list[Tensor] = []
        while len(tokens) < self._answer_tokens and not (tokens and tokens[-1] in self._model.eos):
            hidden = self._model.forward(cache, ids, torch.arange(at, at + len(ids)))
            assert hidden is not None
            rows.append(self._model.log_probabilities(hidden[-1:]))
            tokens.append(int(rows[-1].argmax()))
            ids, at = torch.tensor(tokens[-1:]), at + len(ids)
        return torch.tensor(tokens), torch.cat(rows)

    def _said(self, tokens: Tensor, log_probabilities: Tensor) -> Said:
        text = self._tokenizer.decode(tokens.tolist())
        return Said(text, tuple(tokens[:STEPS].tolist()), log_probabilities[:STEPS].numpy())
