"""Little-endian values as they are."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from kvstore.codecs.base import SectionJob, runs
from kvstore.errors import CorruptBlob


class Raw:
    """Codec 0."""

    id = 0
    name = "raw"
    profile_id = ""

    def decoded_dtype(self, dtype: torch.dtype) -> torch.dtype:
        return dtype

    def encode_layer(self, layer: int, keys: Tensor, values: Tensor) -> list[bytes]:  # noqa: ARG002 - all are coded alike
        return [_bytes(run) for tensor in (keys, values) for run in runs(tensor)]

    def decode(self, jobs: Sequence[SectionJob]) -> None:
        for job in jobs:
            if len(job.data) != job.out.nbytes:
                raise CorruptBlob(f"A raw section of {job.out.nbytes} bytes has {len(job.data)}.")
            job.out.view(-1).view(torch.uint8).numpy()[...] = np.frombuffer(job.data, np.uint8)


def _bytes(run: Tensor) -> bytes:
    return run.detach().contiguous().cpu().view(-1).view(torch.uint8).numpy().tobytes()


__all__ = ["Raw"]
