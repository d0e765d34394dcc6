"""One question's prompt, and what the exact run makes of it."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.context import Piece
from benchmarks.lab.cache import ScatterCache
from benchmarks.lab.dense import DenseModel, Watch
from generator.chat import ChatTokenizer
from generator.fusion_request import Segment, SegmentKind
from generator.preamble import Preamble
from generator.prompt import assemble


@dataclass(frozen=True)
class ExactRun:
    """The prompt and its full prefill.

    ids: (prompt,) int64; the first `context` of them are the fused context, cut into `segments`.
    cache: keys and values of the whole prompt.
    answer: (steps,) the greedy tokens; steps is at most the asked number, less where the answer ends.
    log_probabilities: (steps, vocabulary) before each of them.
    """

    ids: Tensor
    segments: tuple[Segment, ...]
    chunks: tuple[Piece, ...]
    cache: ScatterCache
    answer: Tensor
    log_probabilities: Tensor

    @property
    def context(self) -> int:
        return self.segments[-1].end

    @property
    def chunk_segments(self) -> list[Segment]:
        return [segment for segment in self.segments if segment.kind is SegmentKind.CHUNK]

    @property
    def numbers(self) -> Tensor:
        """Positions of the short texts between chunks."""
        spans = [range(s.start, s.end) for s in self.segments if s.kind is SegmentKind.TEXT]
        return torch.tensor([at for span in spans for at in span], dtype=torch.int64)

    @property
    def reused(self) -> Tensor:
        """(context,) bool: positions of chunks after the first, which a policy may make fresh."""
        marked = torch.zeros(self.context, dtype=torch.bool)
        for segment in self.chunk_segments[1:]:
            marked[segment.start : segment.end] = True
        return marked

    @property
    def question(self) -> Tensor:
        return self.ids[self.context :]

    def room(self) -> int:
        return len(self.ids) + len(self.answer)


def run_exact(
    model: DenseModel,
    tokenizer: ChatTokenizer,
    preamble: Preamble,
    chunks: Sequence[Piece],
    question: str,
    steps: int,
) -> ExactRun:
    """Prefill everything, then answer greedily with at most `steps` tokens, the end-of-turn token included."""
    prompt = assemble(tokenizer, preamble, [chunk.ids for chunk in chunks], question, 1 << 20)
    ids = torch.tensor(prompt.token_ids)
    cache = model.empty_cache(len(ids) + steps)
    hidden = model.forward(cache, ids, torch.arange(len(ids)))
    answer: list[int] = []
    rows: list[Tensor] = []
    while hidden is not None:
        rows.append(model.log_probabilities(hidden[-1:]))
        answer.append(int(rows[-1].argmax()))
        if len(answer) == steps or answer[-1] in model.eos:
            break
        at = len(ids) + len(answer) - 1
        hidden = model.forward(cache, torch.tensor(answer[-1:]), torch.tensor([at]))
    return ExactRun(ids, prompt.segments, tuple(chunks), cache, torch.tensor(answer), torch.cat(rows))


def forced(model: DenseModel, exact: ExactRun, cache: ScatterCache) -> Tensor:
    """(steps, vocabulary) log-probabilities of the exact answer's tokens over a context's keys and values."""
    ids = torch.cat([exact.question, exact.answer[:-1]])
    hidden = model.forward(cache, ids, torch.arange(exact.context, exact.context + len(ids)))
    assert hidden is not None
    return model.log_probabilities(hidden[len(exact.question) - 1 :])


def ask(model: DenseModel, exact: ExactRun, cache: ScatterCache, ahead: int = 0) -> Watch:
    """Run the question's tokens, and the first `ahead` of the answer, over a context's keys and values, watching their
    queries."""
    watch = Watch()
    ids = torch.cat([exact.question, exact.answer[:ahead]])
    model.forward(cache, ids, torch.arange(exact.context, exact.context + len(ids)), watch=watch)
    return watch
