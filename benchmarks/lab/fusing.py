"""One variant's context for one question: reused chunk KV, and what it makes fresh."""

from dataclasses import dataclass

import torch
from torch import Tensor

from benchmarks.lab import scores as measures
from benchmarks.lab.cache import ScatterCache
from benchmarks.lab.choosing import choose, moving
from benchmarks.lab.dense import DenseModel, Watch
from benchmarks.lab.exact import ExactRun, ask
from benchmarks.lab.following import FollowingCache
from benchmarks.lab.shift import shift_rest
from benchmarks.lab.variant import Options, Variant, layer_numbers

_CHECK_LAYER = 1
_KEYS_ALONE, _VALUES_ALONE = 2, 3


@dataclass(frozen=True)
class Fused:
    """`fresh`: share of the context's tokens that were recomputed; `runs`: contiguous stretches they make.
    `left`: (context,) bool, what of later chunks was not."""

    cache: ScatterCache
    fresh: float
    runs: int
    left: Tensor


class Fusing:
    """Applies variants to one base: a question's context in one reading, nothing fresh."""

    def __init__(self, model: DenseModel, exact: ExactRun, base: ScatterCache) -> None:
        self._model = model
        self._exact = exact
        self._base = base
        self._allowed = exact.reused
        self._watch: Watch | None = None
        self._early: ScatterCache | None = None

    def __call__(self, variant: Variant) -> Fused:
        if variant.selector == "none":
            return Fused(self._base, 0.0, 0, self._allowed)
        cache = self._copy(variant.options)
        if variant.selector == "cacheblend-released":
            fresh = self._as_released(cache, variant)
        elif variant.selector == "everything":
            fresh = torch.arange(self._exact.context)
            self._recompute(cache, fresh)
        else:
            fresh = self._selected(cache, variant)
        runs = int((fresh[1:] != fresh[:-1] + 1).sum()) + 1
        left = self._allowed.clone()
        left[fresh] = False
        return Fused(cache, len(fresh) / self._exact.context, runs, left)

    def _copy(self, options: Options) -> ScatterCache:
        if options.follow < 0:
            return self._base.copy()
        return FollowingCache(self._model, self._base, self._exact.chunk_segments[1:], options.follow / 100)

    def _recompute(self, cache: ScatterCache, positions: Tensor) -> None:
        self._model.forward(cache, self._exact.ids[positions], positions)

    def _selected(self, cache: ScatterCache, variant: Variant) -> Tensor:
        """Choose and recompute, in `stages` steps; returns all positions made fresh, ascending."""
        options = variant.options
        left = self._allowed.clone()
        done = self._exact.numbers
        budget = round(variant.amount * self._exact.context)
        for stage in range(options.stages):
            if variant.selector in {"head", "rest"}:
                chosen = self._by_place(variant.selector, int(variant.amount))
            else:
                watch = self._asked(cache if stage else None, options.ahead)
                worth = self._worth(variant.selector, options, watch, cache)
                part = budget * (stage + 1) // options.stages - budget * stage // options.stages
                heads = self._chunk_heads(options.head) if stage == 0 else []
                how = {"span": options.span, "join": options.join, "sample": options.sample}
                chosen = choose(worth, left, part, heads=heads, **how)
            left[chosen] = False
            new = torch.cat([chosen, done]).sort().values if stage == 0 else chosen
            if options.patch:
                self._patch(cache, new, options.patch)
            else:
                self._recompute(cache, new)
            done = torch.cat([done, chosen]).sort().values
        if options.shift:
            shift_rest(self._model, self._exact, self._base, cache, done)
        return done

    def _patch(self, cache: ScatterCache, positions: Tensor, part: int) -> None:
        exact = self._exact.cache
        if part != _VALUES_ALONE:
            cache.keys[:, :, positions] = exact.keys[:, :, positions]
        if part != _KEYS_ALONE:
            cache.values[:, :, positions] = exact.values[:, :, positions]

    def _by_place(self, selector: str, tokens: int) -> Tensor:
        heads = torch.zeros_like(self._allowed)
        heads[self._chunk_heads(tokens)] = True
        return (self._allowed & (heads if selector == "head" else ~heads)).nonzero()[:, 0]

    def _chunk_heads(self, tokens: int) -> list[int]:
        chunks = self._exact.chunk_segments[1:]
        return [at for segment in chunks for at in range(segment.start, min(segment.end, segment.start + tokens))]

    def _asked(self, cache: ScatterCache | None, ahead: int) -> Watch:
        if cache is not None or ahead:
            return ask(self._model, self._exact, self._base if cache is None else cache, ahead)
        if self._watch is None:
            self._watch = ask(self._model, self._exact, self._base)
        return self._watch

    def _worth(self, selector: str, options: Options, watch: Watch, cache: ScatterCache) -> Tensor:
        parts = [self._measure(name, options, watch, cache) for name in selector.split("*")]
        worth = parts[0] if len(parts) == 1 else parts[0] * parts[1]
        worth = worth.masked_fill(~self._allowed, 0)
        return moving(moving(worth, options.smooth, maximum=False), options.spread, maximum=True)

    def _measure(self, name: str, options: Options, watch: Watch, cache: ScatterCache) -> Tensor:
        context = self._exact.context
        if name == "random":
            return torch.rand(context, generator=torch.Generator().manual_seed(context))
        if name in {"hkvd", "hkvdkv"}:
            new = self._checked()
            layer = slice(_CHECK_LAYER, _CHECK_LAYER + 1)
            return self._moved(new, layer, keys=name == "hkvdkv")
        if name == "true":
            return self._moved(self._exact.cache, slice(None), keys=True)
        return self._impact(name, options, watch, cache)

    def _moved(self, new: ScatterCache, layers: slice, *, keys: bool) -> Tensor:
        end, base = self._exact.context, self._base
        return measures.deviation(
            base.keys[layers, :, :end],
            base.values[layers, :, :end],
            new.keys[layers, :, :end],
            new.values[layers, :, :end],
            keys=keys,
        )

    def _impact(self, name: str, options: Options, watch: Watch, cache: ScatterCache) -> Tensor:
        context = self._exact.context
        among = {"all": None, "context": torch.ones(context, dtype=torch.bool), "candidates": self._allowed}
        parts = []
        for layer in layer_numbers(options.layers, self._model.layers):
            shares = measures.attention(watch.queries[layer], cache.keys[layer], context)
            if name == "impactv":
                shares = shares * measures.value_norms(cache.values[layer, :, :context], self._model.heads)
            parts.append(measures.pooled(shares, pool=options.pool, pick=options.pick, among=among[options.norm]))
        return measures.total(parts)

    def _checked(self) -> ScatterCache:
        """Keys and values of the first layers with everything fresh, up to the check layer."""
        if self._early is None:
            self._early = self._base.copy()
            context = self._exact.context
            self._model.forward(self._early, self._exact.ids[:context], torch.arange(context), last_layer=_CHECK_LAYER)
        return self._early

    def _as_released(self, cache: ScatterCache, variant: Variant) -> Tensor:
        """CacheBlend's released code: layers 0 and 1 in full, the positions whose values moved most at layer 1 go on,
        and from there each row sees as if the rows were the last ones: scattered tokens see the future."""
        context, early = self._exact.context, self._checked()
        layer = slice(_CHECK_LAYER, _CHECK_LAYER + 1)
        worth = self._moved(early, layer, keys=False).masked_fill(~self._allowed, 0)
        chosen = choose(worth, self._allowed, round(variant.amount * context))
        rows = torch.cat([chosen, self._exact.numbers]).sort().values
        cache.keys[: _CHECK_LAYER + 1] = early.keys[: _CHECK_LAYER + 1]
        cache.values[: _CHECK_LAYER + 1] = early.values[: _CHECK_LAYER + 1]
        last = torch.arange(context - len(rows), context)
        limits = [rows] * _CHECK_LAYER + [last] * (self._model.layers - _CHECK_LAYER)
        self._model.forward(cache, self._exact.ids[rows], rows, limits=limits)
        return rows
