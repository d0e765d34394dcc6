"""Decoded symbols into pages of FlashAttention's KV cache, in PyTorch: what `kernels.fused_write` must agree with."""

from dataclasses import dataclass

import torch
from torch import Tensor

from kernels.errors import BadShape
from kernels.rope import rotate_keys

ZERO_SYMBOL = 128


@dataclass(frozen=True, eq=False)
class Section:
    """Keys or values of some tokens, of one layer and of some or all of its heads, as they were coded.

    symbols: (planes, tokens) uint8; symbol - 128 is a coefficient.
    rows: (planes, width) float32, what one unit of a plane's coefficient adds; width is kv_heads * head_dim.
    mean: (width,) float32, what that is added to.
    scales: (tokens,) float32, what all coefficients of a token are multiplied by.
    exception_planes, exception_tokens: (exceptions,) int64, places in `symbols`, no two of them the same.
    exception_values: (exceptions,) float32, the coefficients there, before scaling.
    """

    symbols: Tensor
    rows: Tensor
    mean: Tensor
    scales: Tensor
    exception_planes: Tensor
    exception_tokens: Tensor
    exception_values: Tensor


@dataclass(frozen=True, eq=False)
class Rotation:
    """cos, sin: (tokens, rotary_dim // 2), any float dtype, of the tokens' positions; `neox` as in `kernels.rope`."""

    cos: Tensor
    sin: Tensor
    neox: bool


def write_reference(section: Section, cache: Tensor, slots: Tensor, rotation: Rotation | None = None) -> None:
    """Write a section into one half of a paged KV cache.

    Args:
        cache: (blocks, block_size, kv_heads, head_dim) 16- or 32-bit floats: a view with any strides, of the keys' or
            the values' half and of the section's heads. Changed in place.
        slots: (tokens,) int64, block * block_size + place in the block; a token with a negative one is left out.
        rotation: for keys.
    Raises: BadShape.
    """
    check_write(section, cache, slots, rotation)
    kept = slots >= 0
    block_size = cache.shape[1]
    restored = restore(section, cache.shape[2], rotation).to(cache.dtype)
    cache[slots[kept] // block_size, slots[kept] % block_size] = restored[kept]


def restore(section: Section, kv_heads: int, rotation: Rotation | None) -> Tensor:
    """(tokens, kv_heads, head_dim) float32: the section's keys or values, computed in float32. Raises: BadShape."""
    coefficients = section.symbols.to(torch.float32) - ZERO_SYMBOL
    coefficients[section.exception_planes, section.exception_tokens] = section.exception_values
    restored = section.mean + (coefficients * section.scales).T @ section.rows
    restored = restored.view(len(restored), kv_heads, restored.shape[1] // kv_heads)
    if rotation is None:
        return restored
    cos, sin = rotation.cos, rotation.sin
    return rotate_keys(restored, cos, sin, neox=rotation.neox, rotary_dim=2 * cos.shape[1])


def check_write(section: Section, cache: Tensor, slots: Tensor, rotation: Rotation | None) -> None:
    """Raises BadShape if the arguments of `write_reference` do not fit each other."""
    if cache.dim() != 4 or cache.dtype not in (torch.bfloat16, torch.float16, torch.float32):
        raise BadShape(f"A cache's half has 4 dimensions and 16- or 32-bit floats, not {cache.dim()} {cache.dtype}.")
    head_dim, width = cache.shape[3], cache.shape[2] * cache.shape[3]
    if section.symbols.dim() != 2 or section.symbols.dtype != torch.uint8 or slots.dtype != torch.int64:
        raise BadShape(
            f"Symbols are (planes, tokens) uint8 and slots int64, not {section.symbols.dtype}, {slots.dtype}."
        )
    floats = (section.rows, section.mean, section.scales, section.exception_values)
    if {tensor.dtype for tensor in floats} != {torch.float32}:
        raise BadShape("Rows, mean, scales and exceptions' values are float32.")
    planes, tokens = section.symbols.shape
    shapes = [tuple(tensor.shape) for tensor in (section.rows, section.mean, section.scales, slots)]
    if shapes != [(planes, width), (width,), (tokens,), (tokens,)]:
        raise BadShape(f"Rows, mean, scales, slots {shapes} of {planes} planes {width} wide and {tokens} tokens.")
    exceptions = {len(section.exception_planes), len(section.exception_tokens), len(section.exception_values)}
    if len(exceptions) != 1:
        raise BadShape("Exceptions' planes, tokens and values must be equally many.")
    if head_dim % 2:
        raise BadShape(f"Heads are of an even number of dimensions, not {head_dim}.")
    if rotation is not None:
        turned = rotation.cos.shape
        if rotation.sin.shape != turned or len(turned) != 2 or turned[0] != tokens or 2 * turned[1] > head_dim:
            raise BadShape(f"cos and sin {tuple(turned)} do not fit {tokens} tokens and heads of {head_dim}.")


__all__ = ["ZERO_SYMBOL", "Rotation", "Section", "check_write", "restore", "write_reference"]
