"""Byte planes: the n-th byte of every value together, so that the well-compressible exponent bytes lie side by side.

Plane 0 holds each value's least significant byte. The arithmetic works on values, not on memory, so a plane is the same
on every machine.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, uint8

from kernels.errors import BadShape

Bytes = NDArray[np.uint8]
_WORDS: dict[int, type[np.unsignedinteger]] = {2: np.uint16, 4: np.uint32}


def split_planes(tensor: Tensor) -> list[Bytes]:
    """The byte planes of a tensor, least significant first.

    Args:
        tensor: any shape, a float dtype of 2 or 4 bytes.
    Returns: one (tensor.numel(),) uint8 array for each byte of the dtype.
    Raises: BadShape.
    """
    words = _words(tensor.detach().contiguous().cpu())
    return [(words >> (8 * plane)).astype(np.uint8) for plane in range(words.itemsize)]


def merge_planes(planes: Sequence[Bytes], out: Tensor) -> None:
    """Write the values whose byte planes are `planes` into `out`.

    Args:
        planes: one (out.numel(),) uint8 array for each byte of out's dtype, least significant first.
        out: contiguous, any shape, a float dtype of 2 or 4 bytes, on the CPU.
    Raises: BadShape.
    """
    words = _words(out)
    if len(planes) != words.itemsize or any(plane.shape != words.shape for plane in planes):
        raise BadShape(f"{words.itemsize} planes of {words.size} bytes are needed, not {[p.shape for p in planes]}.")
    words[...] = planes[-1]
    for plane in reversed(planes[:-1]):
        words <<= 8
        words |= plane


def _words(tensor: Tensor) -> NDArray[np.unsignedinteger]:
    if tensor.itemsize not in _WORDS or not tensor.is_floating_point():
        raise BadShape(f"Byte planes are of 16- and 32-bit floats, not {tensor.dtype}.")
    if not tensor.is_contiguous():
        raise BadShape("Byte planes need a contiguous tensor.")
    memory: Bytes = tensor.view(-1).view(uint8).numpy()
    return memory.view(_WORDS[tensor.itemsize])


__all__ = ["Bytes", "merge_planes", "split_planes"]
