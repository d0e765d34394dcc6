"""KV deviation: how far freshly computed keys and values lie from the cached ones."""

import torch
from torch import Tensor

from kernels.errors import BadShape


def kv_deviation(keys: Tensor, values: Tensor, cached_keys: Tensor, cached_values: Tensor) -> Tensor:
    """Squared distance of each token's keys and values from the cached ones, each relative to its mean square.

    Args:
        keys, values: (tokens, kv_heads, head_dim) as computed in this context, any float dtype.
        cached_keys, cached_values: the same shape, as loaded; keys rotated like `keys`.
    Returns: (tokens,) float32.
    Raises: BadShape.
    Source: CacheBlend (arXiv 2405.16444), section 4.3; the sum over keys and values is made comparable here.
    """
    if not keys.shape == values.shape == cached_keys.shape == cached_values.shape or keys.dim() != 3:
        raise BadShape(f"Keys {tuple(keys.shape)} and cached keys {tuple(cached_keys.shape)} do not fit.")
    return _relative(keys, cached_keys) + _relative(values, cached_values)


def _relative(new: Tensor, old: Tensor) -> Tensor:
    new = new.to(torch.float32)
    distance = (new - old.to(torch.float32)).square().sum(dim=(1, 2))
    norm = new.square().sum(dim=(1, 2)).mean()
    return distance / norm.clamp_min(torch.finfo(torch.float32).tiny)


__all__ = ["kv_deviation"]
