"""Mean-shift correction: what was left alone moves as the fresh tokens of its chunk moved on average."""

import torch
from torch import Tensor

from benchmarks.lab.cache import ScatterCache
from benchmarks.lab.dense import DenseModel
from benchmarks.lab.exact import ExactRun
from benchmarks.lab.reading import PieceKV, place, take


def shift_rest(model: DenseModel, exact: ExactRun, base: ScatterCache, cache: ScatterCache, fresh: Tensor) -> None:
    """Add, for each chunk after the first and each layer and channel, the mean change of its fresh tokens' un-rotated
    keys and values to those of its other tokens, in `cache`.

    Source: AgentKVShift (arXiv 2607.21604).
    """
    for segment in exact.chunk_segments[1:]:
        slots = torch.arange(segment.start, segment.end)
        changed = torch.isin(slots, fresh)
        if not changed.any() or changed.all():
            continue
        old, new = take(model, base, slots, slots), take(model, cache, slots, slots)
        moved = PieceKV(_moved(old.keys, new.keys, changed), _moved(old.values, new.values, changed))
        place(model, cache, moved, segment.start)


def _moved(old: Tensor, new: Tensor, changed: Tensor) -> Tensor:
    """(tokens, heads, dim) each; `changed` (tokens,) bool."""
    mean = (new - old)[changed].mean(0)
    return torch.where(changed[:, None, None], new, old + mean)
