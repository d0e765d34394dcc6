"""Decoded symbols into pages of FlashAttention's KV cache, in one Triton kernel and without a copy in between.

A program restores a block of tokens of one head. It takes the head's dimensions as pairs that turn together, sums both
members of each pair over the planes, turns them and stores them. Exceptions are further planes, each with one token.
"""

import triton  # type: ignore[import-untyped]
import triton.language as tl  # type: ignore[import-untyped]
from torch import Tensor

from kernels.errors import BadShape
from kernels.fused_reference import ZERO_SYMBOL, Rotation, Section, check_write

_TOKENS = 32
_PLANES = 16


def write_section(section: Section, cache: Tensor, slots: Tensor, rotation: Rotation | None = None) -> None:
    """`kernels.fused_reference.write_reference` on the GPU. Nothing waits for it.

    Sums run in another order than the reference's, so results may differ in the last bit of the cache's dtype.

    Args: as `write_reference`; all on one device, all but `cache` contiguous. Slots must lie in the cache: that is not
        checked, as looking at them would wait for the GPU.
    Raises: BadShape.
    """
    check_write(section, cache, slots, rotation)
    planes, tokens = section.symbols.shape
    _, block_size, kv_heads, head_dim = cache.shape
    symbols, rows, mean, scales = section.symbols, section.rows, section.mean, section.scales
    exceptions = (section.exception_planes, section.exception_tokens, section.exception_values)
    cos, sin = (rotation.cos, rotation.sin) if rotation else (mean, mean)
    if not all(tensor.is_contiguous() for tensor in (symbols, rows, mean, scales, *exceptions, cos, sin, slots)):
        raise BadShape("All but the cache must be contiguous.")
    if tokens:
        _write[(triton.cdiv(tokens, _TOKENS), kv_heads)](
            *(symbols, rows, mean, scales, *exceptions, cos, sin, slots, cache),
            *(planes, tokens, len(exceptions[0]), block_size, *cache.stride()),
            HEAD_DIM=head_dim,
            TURNED=cos.shape[1] if rotation else 0,
            NEOX=rotation is not None and rotation.neox,
            ZERO_SYMBOL=ZERO_SYMBOL,
            TOKENS=_TOKENS,
            PLANES=_PLANES,
            PAIRS=max(16, triton.next_power_of_2(head_dim // 2)),
        )


@triton.jit(do_not_specialize=["planes", "tokens", "exceptions"])  # type: ignore[untyped-decorator]
def _write(  # type: ignore[no-untyped-def]
    symbols,
    rows,
    mean,
    scales,
    exception_planes,
    exception_tokens,
    exception_values,
    cos,
    sin,
    slots,
    cache,
    planes,
    tokens,
    exceptions,
    block_size,
    block_stride,
    place_stride,
    head_stride,
    dim_stride,
    HEAD_DIM: tl.constexpr,  # noqa: N803
    TURNED: tl.constexpr,  # noqa: N803
    NEOX: tl.constexpr,  # noqa: N803
    ZERO_SYMBOL: tl.constexpr,  # noqa: N803
    TOKENS: tl.constexpr,  # noqa: N803
    PLANES: tl.constexpr,  # noqa: N803
    PAIRS: tl.constexpr,  # noqa: N803
):
    head = tl.program_id(1)
    width = tl.num_programs(1) * HEAD_DIM
    token = tl.program_id(0) * TOKENS + tl.arange(0, TOKENS)
    pair = tl.arange(0, PAIRS)
    real = (token < tokens)[:, None] & (pair < HEAD_DIM // 2)[None, :]
    # The first TURNED pairs turn; the dimensions behind them are halved into pairs that do not.
    turns = pair < TURNED
    first = tl.where(turns, pair if NEOX else 2 * pair, TURNED + pair)
    second = tl.where(turns, pair + TURNED if NEOX else 2 * pair + 1, HEAD_DIM // 2 + pair)
    in_first, in_second = (rows + head * HEAD_DIM + first)[None, :], (rows + head * HEAD_DIM + second)[None, :]
    of_pair = (pair < HEAD_DIM // 2)[None, :]
    sum_first = tl.full((TOKENS, PAIRS), 0.0, tl.float32)
    sum_second = tl.full((TOKENS, PAIRS), 0.0, tl.float32)

    for start in range(0, planes, PLANES):
        plane = start + tl.arange(0, PLANES)
        known = (token < tokens)[:, None] & (plane < planes)[None, :]
        symbol = tl.load(symbols + plane[None, :] * tokens + token[:, None], mask=known, other=ZERO_SYMBOL)
        coefficient = symbol.to(tl.float32) - ZERO_SYMBOL
        there = (plane < planes)[:, None] & of_pair
        row = plane[:, None] * width
        sum_first = _plus(sum_first, coefficient, in_first + row, there)
        sum_second = _plus(sum_second, coefficient, in_second + row, there)

    for start in range(0, exceptions, PLANES):
        number = start + tl.arange(0, PLANES)
        plane = tl.load(exception_planes + number, mask=number < exceptions, other=-1)
        at = tl.load(exception_tokens + number, mask=number < exceptions, other=-1)
        value = tl.load(exception_values + number, mask=number < exceptions, other=0.0)
        inside = (plane >= 0) & (plane < planes) & (at >= 0) & (at < tokens)
        symbol = tl.load(symbols + plane * tokens + at, mask=inside, other=ZERO_SYMBOL)
        correction = value - (symbol.to(tl.float32) - ZERO_SYMBOL)
        coefficient = tl.where(inside[None, :] & (at[None, :] == token[:, None]), correction[None, :], 0.0)
        there = inside[:, None] & of_pair
        row = plane[:, None] * width
        sum_first = _plus(sum_first, coefficient, in_first + row, there)
        sum_second = _plus(sum_second, coefficient, in_second + row, there)

    scale = tl.load(scales + token, mask=token < tokens, other=0.0)[:, None]
    a = sum_first * scale + tl.load(mean + head * HEAD_DIM + first, mask=pair < HEAD_DIM // 2, other=0.0)[None, :]
    b = sum_second * scale + tl.load(mean + head * HEAD_DIM + second, mask=pair < HEAD_DIM // 2, other=0.0)[None, :]
    if TURNED > 0:
        angle = token[:, None] * TURNED + pair[None, :]
        c = tl.load(cos + angle, mask=real & turns[None, :], other=1.0).to(tl.float32)
        s = tl.load(sin + angle, mask=real & turns[None, :], other=0.0).to(tl.float32)
        a, b = a * c - b * s, b * c + a * s
    slot = tl.load(slots + token, mask=token < tokens, other=-1)
    place = cache + (slot // block_size) * block_stride + (slot % block_size) * place_stride + head * head_stride
    kept = real & (slot >= 0)[:, None]
    tl.store(place[:, None] + first[None, :] * dim_stride, a.to(cache.dtype.element_ty), mask=kept)
    tl.store(place[:, None] + second[None, :] * dim_stride, b.to(cache.dtype.element_ty), mask=kept)


@triton.jit
def _plus(total, coefficient, rows, there):  # type: ignore[no-untyped-def]
    return tl.dot(coefficient, tl.load(rows, mask=there, other=0.0), total, input_precision="ieee")


__all__ = ["write_section"]
