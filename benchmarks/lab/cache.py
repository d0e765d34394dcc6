"""Keys and values of a prompt, into which any set of positions can be written."""

import torch
from torch import Tensor


class ScatterCache:
    """What a Hugging Face decoder takes as `past_key_values`: `update` writes rows to the positions of the pass.

    keys, values: (layers, kv_heads, positions, head_dim) float32, keys rotated.
    """

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        self.keys = keys
        self.values = values
        self._positions = torch.empty(0, dtype=torch.int64)
        self._end = 0
        self._last_layer = len(keys)

    @classmethod
    def empty(cls, layers: int, kv_heads: int, positions: int, head_dim: int) -> "ScatterCache":
        shape = (layers, kv_heads, positions, head_dim)
        return cls(torch.zeros(shape), torch.zeros(shape))

    def copy(self, positions: int | None = None) -> "ScatterCache":
        """A copy with room for `positions`; what does not fit is left out."""
        layers, kv_heads, have, head_dim = self.keys.shape
        wanted = have if positions is None else positions
        other = ScatterCache.empty(layers, kv_heads, wanted, head_dim)
        kept = min(have, wanted)
        other.keys[:, :, :kept] = self.keys[:, :, :kept]
        other.values[:, :, :kept] = self.values[:, :, :kept]
        return other

    def aim(self, positions: Tensor, end: int, last_layer: int) -> None:
        """The next pass writes `positions` (rows,), attends to positions below `end`, stops in `last_layer`."""
        self._positions, self._end, self._last_layer = positions, end, last_layer

    def update(self, keys: Tensor, values: Tensor, layer: int) -> tuple[Tensor, Tensor]:
        """Write rows (1, kv_heads, rows, head_dim) of one layer; give back all that this pass may attend to.

        Raises LastLayer once the last wanted layer is written.
        """
        self.keys[layer][:, self._positions] = keys[0]
        self.values[layer][:, self._positions] = values[0]
        if layer == self._last_layer:
            raise LastLayer
        return self.keys[layer, None, :, : self._end], self.values[layer, None, :, : self._end]


class LastLayer(Exception):
    """The pass has written the last layer that was wanted."""
