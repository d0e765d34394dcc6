"""Quantised in groups that carry their own minimum and scale: KIVI, FlexGen, Atom and plain int8. See docs/codec.md."""

import struct
from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from kvstore.codecs.base import SectionJob, runs, sixteen_bits
from kvstore.errors import BadChunkKV, CorruptBlob
from kvstore.presets import Grouping, GroupPreset

_COUNT = struct.Struct("<H")
_OUTLIER_BITS = 8
_LARGEST = 60000.0  # minima and scales are float16


class GroupedCodec:
    """One preset."""

    profile_id = ""

    def __init__(self, preset: GroupPreset) -> None:
        self._preset = preset
        self.name = preset.name
        self.id = preset.number

    def decoded_dtype(self, dtype: torch.dtype) -> torch.dtype:
        return sixteen_bits(dtype)

    def encode_layer(self, layer: int, keys: Tensor, values: Tensor) -> list[bytes]:
        sections = []
        for tensor, grouping in ((keys, self._preset.keys), (values, self._preset.values)):
            for run in runs(tensor.detach()):
                flat = run.reshape(len(run), -1).to(torch.float32)
                if not bool((flat.abs() <= _LARGEST).all()):
                    raise BadChunkKV(
                        f"Layer {layer} holds NaN, infinity or values beyond {_LARGEST:.0f}.",
                        f"The preset {self.name} cannot keep them; use lossless, or one with a profile.",
                    )
                sections.append(self._encode(flat, grouping))
        return sections

    def decode(self, jobs: Sequence[SectionJob]) -> None:
        for job in jobs:
            grouping = self._preset.values if job.kind else self._preset.keys
            job.out.view(len(job.out), -1).copy_(self._decode(job.data, len(job.out), job.out[0].numel(), grouping))

    def _encode(self, run: Tensor, grouping: Grouping) -> bytes:
        outliers = run.abs().amax(0).topk(min(self._preset.outliers, run.shape[1])).indices.sort().values
        parts = [outliers.numpy().astype("<u2").tobytes()]
        for channels, bits in self._shares(run.shape[1], outliers):
            for group in _groups(run[:, channels], grouping):
                parts += _pack(group, bits)
        return _COUNT.pack(len(outliers)) + b"".join(parts)

    def _decode(self, data: memoryview, tokens: int, width: int, grouping: Grouping) -> Tensor:
        out = torch.empty(tokens, width)
        try:
            (count,) = _COUNT.unpack_from(data)
            start = _COUNT.size + 2 * count
            outliers = torch.from_numpy(np.frombuffer(data[_COUNT.size : start], "<u2").astype(np.int64))
            if count > min(self._preset.outliers, width) or (count and int(outliers.max()) >= width):
                raise CorruptBlob("A section's outlier channels are not its own.")
            for channels, bits in self._shares(width, outliers):
                share = torch.empty(tokens, len(channels))
                for group in _groups(share, grouping):
                    start = _unpack(data, start, group, bits)
                out[:, channels] = share
        except (ValueError, IndexError, RuntimeError, struct.error) as error:
            raise CorruptBlob(f"A section is cut short: {error}") from error
        if start != len(data):
            raise CorruptBlob("A section has bytes too many.")
        return out

    def _shares(self, width: int, outliers: Tensor) -> list[tuple[Tensor, int]]:
        """Channels and their bits: the outliers', where there are any, then the others'."""
        rest = torch.ones(width, dtype=torch.bool)
        rest[outliers] = False
        shares = [(outliers, _OUTLIER_BITS), (rest.nonzero()[:, 0], self._preset.bits)]
        return [(channels, bits) for channels, bits in shares if len(channels)]


def _groups(run: Tensor, grouping: Grouping) -> Iterator[Tensor]:
    """Views of whole bands of groups: (groups, values); the last band may have shorter groups."""
    band = run.T if grouping.along_tokens else run
    yield from torch.split(band, grouping.size, dim=1)


def _pack(group: Tensor, bits: int) -> list[bytes]:
    low = group.amin(1, keepdim=True).to(torch.float16)
    scale = ((group.amax(1, keepdim=True) - low.float()) / ((1 << bits) - 1)).to(torch.float16)
    steps = (group - low.float()) / torch.where(scale == 0, 1, scale).float()
    numbers = steps.round().clamp(0, (1 << bits) - 1).to(torch.uint8).numpy().ravel()
    each = 8 // bits
    padded: NDArray[np.uint8] = np.zeros(-(-numbers.size // each) * each, np.uint8)
    padded[: numbers.size] = numbers
    packed = np.bitwise_or.reduce(padded.reshape(-1, each) << (np.arange(each, dtype=np.uint8) * bits), axis=1)
    return [torch.cat([low, scale], 1).numpy().astype("<f2").tobytes(), packed.astype(np.uint8).tobytes()]


def _unpack(data: memoryview, start: int, group: Tensor, bits: int) -> int:
    """Fill `group` from `data` at `start`; returns where what follows begins."""
    count, each = group.numel(), 8 // bits
    middle = start + 4 * len(group)
    end = middle + -(-count // each)
    low_and_scale = np.frombuffer(data[start:middle], "<f2").reshape(len(group), 2).astype(np.float32)
    packed = np.frombuffer(data[middle:end], np.uint8)
    numbers = (packed[:, None] >> (np.arange(each, dtype=np.uint8) * bits)) & ((1 << bits) - 1)
    steps = torch.from_numpy(numbers.ravel()[:count].reshape(group.shape).astype(np.float32))
    bounds = torch.from_numpy(low_and_scale)
    group.copy_(bounds[:, :1] + steps * bounds[:, 1:])
    return end


__all__ = ["GroupedCodec"]
