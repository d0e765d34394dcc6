"""All variants over all questions, each question's exact run made once."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from statistics import fmean, median
from typing import Any

from benchmarks.lab.data import Question
from benchmarks.lab.dense import DenseModel
from benchmarks.lab.exact import ExactRun, forced, run_exact
from benchmarks.lab.fusing import Fusing
from benchmarks.lab.library import Library
from benchmarks.lab.metrics import Closeness, bootstrap, closeness, paired_bootstrap
from benchmarks.lab.packing import pack
from benchmarks.lab.places import Place, places
from benchmarks.lab.reading_on import read_on
from benchmarks.lab.variant import Variant
from generator.chat import ChatTokenizer
from generator.preamble import Preamble

_MEASURES = ("kl_first", "kl_mean", "agreement", "identical")


@dataclass(frozen=True)
class Shape:
    chunk_tokens: int
    context_tokens: int
    steps: int
    seed: int
    places: bool = False


@dataclass(frozen=True)
class Outcome:
    """One variant on one question."""

    closeness: Closeness
    fresh: float
    runs: int


@dataclass(frozen=True)
class Sizes:
    """What the prompts turned out to be: means over the questions."""

    context_tokens: float
    chunks: float


class Study:
    """Asks every question exactly and under every variant."""

    def __init__(self, model: DenseModel, tokenizer: ChatTokenizer, preamble: Preamble, shape: Shape) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._preamble = preamble
        self._shape = shape
        self._library = Library(model, tokenizer, preamble)
        self.places: dict[str, list[list[Place]]] = {}

    def run(
        self, questions: Sequence[Question], variants: Sequence[Variant], step: Callable[[], object]
    ) -> tuple[dict[str, list[Outcome]], Sizes]:
        """Outcomes by variant as written; `step` is called after each variant of each question."""
        outcomes: dict[str, list[Outcome]] = {variant.text: [] for variant in variants}
        contexts, chunks = [], []
        for number, question in enumerate(questions):
            exact = self._exact(question, number)
            contexts.append(exact.context)
            chunks.append(len(exact.chunks))
            for reading, group in groupby(sorted(variants, key=_reading), key=_reading):
                base = self._library.base(exact, reading)
                if self._shape.places:
                    self.places.setdefault(reading, []).append(places(self._model, exact, base))
                fusing = Fusing(self._model, exact, base)
                for variant in group:
                    outcomes[variant.text].append(self._outcome(exact, fusing, variant))
                    step()
        return outcomes, Sizes(fmean(contexts), fmean(chunks))

    def _exact(self, question: Question, number: int) -> ExactRun:
        shape = self._shape
        seed = shape.seed * 1000 + number
        chunks = pack(self._tokenizer, question.passages, shape.chunk_tokens, shape.context_tokens, seed)
        return run_exact(self._model, self._tokenizer, self._preamble, chunks, question.text, shape.steps)

    def _outcome(self, exact: ExactRun, fusing: Fusing, variant: Variant) -> Outcome:
        fused = fusing(variant)
        if variant.options.on:
            rows, share = read_on(self._model, exact, fused, variant.options)
            return Outcome(closeness(exact.log_probabilities, rows), fused.fresh + share, fused.runs)
        found = closeness(exact.log_probabilities, forced(self._model, exact, fused.cache))
        return Outcome(found, fused.fresh, fused.runs)


def summary(outcomes: Sequence[Outcome], baseline: Sequence[Outcome] | None) -> dict[str, Any]:
    """Each measure's mean and 95 % interval; KL against the baseline's, paired, where there is one."""
    values = {name: [asdict(outcome.closeness)[name] for outcome in outcomes] for name in _MEASURES}
    result: dict[str, Any] = {"n": len(outcomes)}
    for name, series in values.items():
        result[name] = fmean(series)
        result[f"{name}_interval"] = bootstrap(series)
    result["kl_first_median"] = median(values["kl_first"])
    result["fresh"] = fmean(outcome.fresh for outcome in outcomes)
    result["runs"] = fmean(outcome.runs for outcome in outcomes)
    if baseline is not None:
        for name in ("kl_first", "kl_mean"):
            theirs = [asdict(outcome.closeness)[name] for outcome in baseline]
            mean = fmean(theirs)
            result[f"{name}_ratio"] = result[name] / mean if mean else None
            result[f"{name}_ratio_interval"] = paired_bootstrap(values[name], theirs)
    return result


def _reading(variant: Variant) -> str:
    return variant.reading
