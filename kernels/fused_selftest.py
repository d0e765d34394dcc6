"""Whether the fused kernel puts keys and values exactly where the attention backend itself would.

The kernel knows FlashAttention's layout by its strides alone. This asks the backend's own writer, once, at start-up.
"""

from collections.abc import Callable

import torch
from torch import Tensor

from kernels.fused_reference import Rotation, Section, restore
from kernels.fused_write import write_section

Writer = Callable[[Tensor, Tensor, Tensor], object]
_PLANES = 24
_EXCEPTIONS = 5


def fused_matches(
    writer: Writer, keys: Tensor, values: Tensor, blocks: Tensor, *, rotary_dim: int, neox: bool
) -> str | None:
    """Write the same random tokens by both, in turn, and compare all of the blocks.

    Args:
        writer: called with keys and values, (tokens, kv_heads, head_dim) in the cache's dtype, keys rotated, and slots,
            (tokens,) int64; writes them into the cache that `keys` and `values` are views of.
        keys, values: (blocks, block_size, kv_heads, head_dim), the cache's halves as `write_section` takes them.
        blocks: (scratch blocks,) int64, different ones that nobody uses meanwhile. They are left as they were.
    Returns: None, or a sentence saying by how much the kernel is off.
    Raises: BadShape, as `write_section`.
    """
    places = len(blocks) * keys.shape[1]
    random = torch.Generator().manual_seed(0)
    slots = (blocks.cpu()[:, None] * keys.shape[1] + torch.arange(keys.shape[1])).flatten()
    slots = slots[torch.randperm(places, generator=random)].to(keys.device)
    kept = (torch.arange(places) % 4 != 1).to(keys.device)
    halves = (keys, values)
    angles = torch.rand(places, rotary_dim // 2, generator=random) * 2 * torch.pi
    rotations = (Rotation(angles.cos().to(keys.device), angles.sin().to(keys.device), neox), None)
    sections = [_random_section(half, places, random) for half in halves]
    wanted = [
        restore(section, half.shape[2], rotation)[kept].to(half.dtype)
        for section, half, rotation in zip(sections, halves, rotations, strict=True)
    ]
    before = [half[blocks].clone() for half in halves]
    try:
        _clear(halves, blocks)
        writer(wanted[0], wanted[1], slots[kept])
        theirs = [half[blocks].clone() for half in halves]
        _clear(halves, blocks)
        for section, half, rotation in zip(sections, halves, rotations, strict=True):
            write_section(section, half, slots.where(kept, -1), rotation)
        ours = [half[blocks].clone() for half in halves]
    finally:
        for half, content in zip(halves, before, strict=True):
            half[blocks] = content
    faults = [_fault(*pair) for pair in zip(("keys", "values"), ours, theirs, strict=True)]
    return next((fault for fault in faults if fault), None)


def _random_section(half: Tensor, tokens: int, random: torch.Generator) -> Section:
    width = half.shape[2] * half.shape[3]
    section = Section(
        symbols=torch.randint(0, 256, (_PLANES, tokens), dtype=torch.uint8, generator=random),
        rows=torch.randn(_PLANES, width, generator=random) / 128,
        mean=torch.randn(width, generator=random),
        scales=0.5 ** torch.randint(0, 4, (tokens,), generator=random),
        exception_planes=torch.randint(0, _PLANES, (_EXCEPTIONS,), generator=random),
        exception_tokens=torch.randperm(tokens, generator=random)[:_EXCEPTIONS],
        exception_values=torch.randn(_EXCEPTIONS, generator=random) * 300,
    )
    return Section(**{name: tensor.to(half.device) for name, tensor in vars(section).items()})


def _clear(halves: tuple[Tensor, Tensor], blocks: Tensor) -> None:
    for half in halves:
        half[blocks] = 0


def _fault(name: str, ours: Tensor, theirs: Tensor) -> str | None:
    """One step of the dtype is allowed: the sums are formed in another order."""
    a, b = ours.to(torch.float32), theirs.to(torch.float32)
    allowed = torch.finfo(theirs.dtype).eps * b.abs() + 1e-5 * b.abs().max()
    off = (a - b).abs()
    if (off <= allowed).all():
        return None
    return (
        f"The fused kernel's {name} are off by {off.max():.3g} from the attention backend's own, "
        f"where rounding explains {allowed.max():.3g} at most."
    )


__all__ = ["Writer", "fused_matches"]
