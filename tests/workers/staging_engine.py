"""An engine that stages made-up KV of the right shape: what tests of the workers' own logic need of one."""

from dataclasses import dataclass, field
from pathlib import Path

import torch

from generator.engine import EngineStatus
from generator.errors import CaptureFailed, EngineUnavailable
from generator.fusion_request import FusionRequest
from generator.identity import capture_identity
from kvstore.chunk_kv import ChunkKV
from kvstore.key import Reading
from kvstore.staging import write_staged

FINGERPRINT = "ab" * 32


@dataclass(frozen=True)
class Capture:
    """What was read, as which reading, and behind which passage."""

    ids: tuple[int, ...]
    reading: Reading
    passage: tuple[int, ...]


@dataclass
class StagingEngine:
    """`before` is called ahead of each capture; `fails` names token ids that cannot be captured, `loses` those whose
    staged file somebody else has taken. A prefill takes `seconds`, it says. `captured` are the token ids of `captures`.
    """

    staging_dir: Path
    captures: list[Capture] = field(default_factory=list)
    captured: list[tuple[int, ...]] = field(default_factory=list)
    purged: list[str] = field(default_factory=list)
    fails: set[tuple[int, ...]] = field(default_factory=set)
    loses: set[tuple[int, ...]] = field(default_factory=set)
    before: "list" = field(default_factory=list)
    up: bool = True
    seconds: float = 0.01
    fusion: bool = True

    def status(self) -> EngineStatus:
        if not self.up:
            raise EngineUnavailable("The engine does not answer.")
        return EngineStatus("tiny", FINGERPRINT, "bfloat16", 8192, self.fusion, None if self.fusion else "untested")

    def preread(self, token_ids: list[int], request: FusionRequest) -> float:
        self.status()
        target = request.segments[-1]
        ids = tuple(token_ids[target.start : target.end])
        for action in self.before:
            action(ids)
        if ids in self.fails:
            raise CaptureFailed("A token is missing.")
        layers = tuple(torch.randn(len(ids), 1, 4, dtype=torch.bfloat16) for _ in range(2))
        if ids in self.loses:
            return self.seconds
        write_staged(self.staging_dir, capture_identity(request, token_ids, FINGERPRINT), ChunkKV(layers, layers))
        first = request.segments[0]
        passage = tuple(token_ids[first.end : target.start])
        self.captures.append(Capture(ids, request.capture, passage))
        self.captured.append(ids)
        return self.seconds

    def purge(self, tenant: str, keys: list[str]) -> None:
        self.status()
        self.purged += keys
