"""A small model's KV, whose channels depend on each other, and profiles calibrated on it."""

from functools import lru_cache

import torch

from kvstore.calibration import CalibrationSample, calibrate
from kvstore.chunk_kv import ChunkKV
from kvstore.presets import PROFILE_PRESETS
from kvstore.profile import Profile

LAYERS, HEADS, DIM = 2, 2, 8
WIDTH = HEADS * DIM
FINGERPRINT = "c" * 64


def make_rows(tokens: int, seed: int) -> torch.Tensor:
    """(2, layers, tokens, width) float32 with channels of very different size."""
    mixing = torch.randn(2, LAYERS, WIDTH, WIDTH, generator=torch.Generator().manual_seed(1))
    generator = torch.Generator().manual_seed(seed)
    sizes = torch.logspace(-2, 1, WIDTH)
    return torch.randn(2, LAYERS, tokens, WIDTH, generator=generator) @ (mixing * sizes[:, None]) + sizes


def make_sample(seed: int, tokens: int = 512) -> CalibrationSample:
    generator = torch.Generator().manual_seed(1000 + seed)
    rows = make_rows(tokens, seed)
    gradients = 1e-3 * torch.randn(2, 2, LAYERS, tokens, WIDTH, generator=generator)
    # Tokens with a large first channel matter more, so that there is something to detect.
    weight = (rows[:, :, :, :1] > rows[:, :, :, :1].mean()).float() * 7 + 1
    shape = (LAYERS, tokens, HEADS, DIM)
    return CalibrationSample(rows.view(2, *shape), (gradients * weight).view(2, 2, *shape))


@lru_cache(maxsize=1)
def make_profile() -> Profile:
    """With every preset that has a profile."""
    return calibrate([make_sample(seed) for seed in range(6)], PROFILE_PRESETS, [FINGERPRINT], {"text": "noise"})


def held_out(tokens: int = 300, seed: int = 99, dtype: torch.dtype = torch.bfloat16) -> ChunkKV:
    """Chunk KV like that which the profile was calibrated on."""
    keys, values = make_rows(tokens, seed).to(dtype)
    return ChunkKV(
        tuple(layer.reshape(tokens, HEADS, DIM) for layer in keys),
        tuple(layer.reshape(tokens, HEADS, DIM) for layer in values),
    )


def relative_error(before: ChunkKV, after: ChunkKV) -> float:
    pairs = zip((*before.keys, *before.values), (*after.keys, *after.values), strict=True)
    return max(float((b.float() - a.float()).norm() / b.float().norm()) for b, a in pairs)
