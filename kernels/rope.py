"""Rotary position embedding of cached keys, and its inverse.

Chunk KV keeps keys un-rotated, so that a chunk can be placed anywhere. Both functions take the model's own cos/sin
rows, whatever scaling made them. They look at the last dimension only: heads of several layers may be stacked in
`kv_heads` to rotate them in one call.
"""

import torch
from torch import Tensor

from kernels.errors import BadShape


def rotate_keys(keys: Tensor, cos: Tensor, sin: Tensor, *, neox: bool, rotary_dim: int) -> Tensor:
    """Apply rotary position embedding to un-rotated keys.

    Args:
        keys: (tokens, kv_heads, head_dim), any float dtype.
        cos, sin: (tokens, rotary_dim // 2), any float dtype; the row of each token's position.
        neox: True pairs dimension i with i + rotary_dim / 2 (half-split); False pairs 2i with 2i + 1 (interleaved).
        rotary_dim: how many leading dimensions are rotated; the rest pass through.
    Returns: (tokens, kv_heads, head_dim) float32, freshly allocated.
    Raises: BadShape.
    Source: RoFormer (arXiv 2104.09864), eq. 34.
    """
    cos, sin = _float_rows(keys, cos, sin, rotary_dim)
    return _turn(keys, cos, sin, neox=neox, rotary_dim=rotary_dim)


def unrotate_keys(keys: Tensor, cos: Tensor, sin: Tensor, *, neox: bool, rotary_dim: int) -> Tensor:
    """Undo `rotate_keys` for the same `cos` and `sin`.

    Divides by cos² + sin², which is not 1 for YaRN (its tables carry a magnitude) nor for tables rounded to 16 bits.

    Args and returns: as `rotate_keys`; `keys` are rotated ones. cos and sin of a pair must not both be zero.
    Raises: BadShape.
    """
    cos, sin = _float_rows(keys, cos, sin, rotary_dim)
    magnitude = cos * cos + sin * sin
    return _turn(keys, cos / magnitude, -sin / magnitude, neox=neox, rotary_dim=rotary_dim)


def _turn(keys: Tensor, cos: Tensor, sin: Tensor, *, neox: bool, rotary_dim: int) -> Tensor:
    turned = keys.to(torch.float32, copy=True)
    first, second = _pairs(turned, neox=neox, rotary_dim=rotary_dim)
    old_first = first.clone()
    first.mul_(cos).addcmul_(second, sin, value=-1)
    second.mul_(cos).addcmul_(old_first, sin)
    return turned


def _pairs(keys: Tensor, *, neox: bool, rotary_dim: int) -> tuple[Tensor, Tensor]:
    if neox:
        half = rotary_dim // 2
        return keys[..., :half], keys[..., half:rotary_dim]
    return keys[..., 0:rotary_dim:2], keys[..., 1:rotary_dim:2]


def _float_rows(keys: Tensor, cos: Tensor, sin: Tensor, rotary_dim: int) -> tuple[Tensor, Tensor]:
    if keys.dim() != 3 or not keys.is_floating_point():
        raise BadShape(f"Keys must be (tokens, kv_heads, head_dim) floats, not {tuple(keys.shape)} {keys.dtype}.")
    tokens, _, head_dim = keys.shape
    if rotary_dim % 2 or not 0 < rotary_dim <= head_dim:
        raise BadShape(f"rotary_dim must be even and in 2..{head_dim}, not {rotary_dim}.")
    wanted = (tokens, rotary_dim // 2)
    if cos.shape != wanted or sin.shape != wanted:
        raise BadShape(f"cos and sin must be {wanted}, not {tuple(cos.shape)} and {tuple(sin.shape)}.")
    return cos.to(torch.float32)[:, None, :], sin.to(torch.float32)[:, None, :]


__all__ = ["rotate_keys", "unrotate_keys"]
