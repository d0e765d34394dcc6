"""Taps: what an attention layer is given in a selection forward, which ends at the last layer that is tapped."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from torch import Tensor, nn

from generator.vllm.pages import LayerPages


class _Enough(Exception):
    """Ends a forward: the layers behind are not needed."""


class QueryTap:
    """Records the queries that chosen layers attend with."""

    def __init__(self, layers: Sequence[LayerPages]) -> None:
        self._chosen: tuple[int, ...] = ()
        self._seen: dict[int, Tensor] = {}
        for index, layer in enumerate(layers):
            self._wrap(index, layer)

    @contextmanager
    def recording(self, chosen: Sequence[int]) -> Iterator[dict[int, Tensor]]:
        """Around one forward, which the last of the layers `chosen` ends: by layer its rotated queries
        (tokens, heads, head_dim)."""
        self._chosen, self._seen = tuple(sorted(set(chosen))), {}
        try:
            with suppress(_Enough):
                yield self._seen
        finally:
            self._chosen = ()

    def _wrap(self, index: int, layer: LayerPages) -> None:
        attend = layer.impl.forward
        shape = (-1, layer.attention.num_heads, layer.attention.head_size)

        def forward(attention: nn.Module, query: Tensor, *args: Any, **kwargs: Any) -> Tensor:
            if index in self._chosen:
                self._seen[index] = query.view(shape).clone()
                if index == self._chosen[-1]:
                    raise _Enough
            return attend(attention, query, *args, **kwargs)

        layer.impl.forward = forward


class KvTap:
    """Records the keys and values that one layer is about to write."""

    def __init__(self, layers: Sequence[LayerPages], index: int) -> None:
        self.layer = index
        self._seen: list[Tensor] | None = None
        self._wrap(layers[index])

    @contextmanager
    def recording(self) -> Iterator[list[Tensor]]:
        """Around one forward: the layer's rotated keys and its values, each (tokens, kv_heads, head_dim)."""
        seen = self._seen = []
        try:
            with suppress(_Enough):
                yield seen
        finally:
            self._seen = None

    def _wrap(self, layer: LayerPages) -> None:
        write = layer.impl.do_kv_cache_update
        shape = (-1, *layer.shape)

        def update(attention: nn.Module, key: Tensor, value: Tensor, cache: Tensor, slots: Tensor) -> None:
            if self._seen is not None:
                self._seen += [key.view(shape).clone(), value.view(shape).clone()]
                raise _Enough
            write(attention, key, value, cache, slots)

        layer.impl.do_kv_cache_update = update
