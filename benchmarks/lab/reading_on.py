"""More tokens made fresh while the answer runs, chosen by what the answer looks at."""

import re

import torch
from torch import Tensor

from app.core.errors import BadInput
from benchmarks.lab.choosing import choose
from benchmarks.lab.dense import DenseModel, Watch
from benchmarks.lab.exact import ExactRun
from benchmarks.lab.fusing import Fused
from benchmarks.lab.scores import attention, pooled
from benchmarks.lab.variant import Options, layer_numbers

_ON = re.compile(r"(\d+)-(\d+)/(\d+)")


def read_on(model: DenseModel, exact: ExactRun, fused: Fused, options: Options) -> tuple[Tensor, float]:
    """Make the model say the exact answer over a fused context that gets fresher on the way (`Options.on`).

    What was computed before, the question and the answer so far, stays as it is.

    Returns: (steps, vocabulary) log-probabilities, and the share of the context that was made fresh meanwhile.
    Raises BadInput.
    """
    found = _ON.fullmatch(options.on)
    if not found:
        raise BadInput(f"“{options.on}” does not say when to read on.", "Write +on=FIRST-LAST/N, like +on=1-8/10.")
    steps, part = range(int(found[1]), int(found[2]) + 1), round(int(found[3]) / 1000 * exact.context)
    # A plain copy: nothing follows what is written from now on.
    cache, left = fused.cache.copy(), fused.left.clone()
    worth = torch.zeros(exact.context)
    ids, at = exact.question, exact.context
    rows = []
    for step in range(len(exact.answer)):
        if step in steps:
            chosen = choose(worth, left, part)
            left[chosen] = False
            if len(chosen):
                model.forward(cache, exact.ids[chosen], chosen)
        watch = Watch()
        hidden = model.forward(cache, ids, torch.arange(at, at + len(ids)), watch=watch)
        assert hidden is not None
        rows.append(model.log_probabilities(hidden[-1:]))
        at += len(ids)
        for layer in layer_numbers(options.layers, model.layers):
            last = watch.queries[layer][:, -1:]
            shares = attention(last, cache.keys[layer], exact.context, at - 1 - exact.context)
            worth += pooled(shares, pool=options.pool, pick=options.pick, among=None)
        ids = exact.answer[step : step + 1]
    return torch.cat(rows), int((fused.left & ~left).sum()) / exact.context
