"""A soak's traffic against an engine that only pretends: who hangs up, what counts as used after its deletion."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from benchmarks.context import Piece
from benchmarks.soak_alone import Alone
from benchmarks.soak_traffic import Traffic
from benchmarks.soak_turns import Turn
from generator.engine import Delta, Finished, Sampling
from generator.errors import EngineFailed
from generator.fusion_request import FusionRequest, Segment, SegmentKind
from generator.prompt import Prompt
from generator.report import ChunkOutcome, FusionReport
from generator.traces import trace_path
from kvstore.key import Reading

OPENING = (Reading.OPENING,)
PIECES = [Piece((n,), ()) for n in range(4)]


@dataclass
class Pretender:
    """Engine and client in one. Each chunk is one token; `stored` are those there is KV for."""

    traces: Path
    answers_after_s: float = 0.0
    forgets: bool = True
    stored: set[int] = field(default_factory=set)
    closed: int = 0
    reports: dict[str, FusionReport] = field(default_factory=dict)

    def prompt(self, pieces: list[Piece], _question: str, _tokens: int) -> Prompt:
        ids = [9, *(piece.ids[0] for piece in pieces)]
        kinds = [SegmentKind.PREAMBLE, *(SegmentKind.CHUNK for _ in pieces)]
        return Prompt(ids, tuple(Segment(n, n + 1, kind, OPENING) for n, kind in enumerate(kinds)))

    def preread_fixed(self, _chunks: int, _conditioning: object) -> None:
        self.stored.add(9)

    def preread(self, pieces: list[Piece], _conditioning: object) -> None:
        self.stored |= {piece.ids[0] for piece in pieces}

    def forget(self, pieces: list[Piece], _conditioning: object) -> None:
        if self.forgets:
            self.stored -= {piece.ids[0] for piece in pieces}

    async def generate(
        self, ids: list[int], request: FusionRequest, _sampling: Sampling
    ) -> AsyncGenerator[Delta | Finished]:
        try:
            await asyncio.sleep(self.answers_after_s)
            found = [bool(each.readings) and ids[each.start] in self.stored for each in request.segments]
            chunks = [ChunkOutcome(n, 1, "disk", None, "opening") if hit else ChunkOutcome(n, 1, reason="absent")
                      for n, hit in enumerate(found[1:])]  # fmt: skip
            self.reports[request.request_id] = FusionReport(
                request.request_id, request.policy, len(ids), reused_tokens=sum(found), chunks=tuple(chunks)
            )
            # What was reused decides the answer, as with a model.
            np.save(trace_path(self.traces, request.request_id, 0), np.array(found + [False] * 4, np.float32)[:5])
            yield Finished("stop", len(ids), 1)
        finally:
            self.closed += 1

    async def report(self, request_id: str) -> FusionReport:
        return self.reports[request_id]


def run(traffic: Traffic, turns: list[Turn]) -> None:
    asyncio.run(traffic.run(turns, 2, lambda: None))


def traffic_of(pretender: Any, seed: int = 0) -> Traffic:
    return Traffic(pretender, pretender, PIECES, Random(seed), longest_pause_s=0.02)


def test_one_who_loses_patience_hangs_up_and_is_not_compared(tmp_path: Path) -> None:
    pretender = Pretender(tmp_path, answers_after_s=0.2)
    traffic = traffic_of(pretender)
    run(traffic, [Turn((0, 1), "none", 1, None), Turn((2,), "none", 1, 0.01), Turn((3,), "none", 1, None)])
    assert [answered.turn.places for answered in traffic.answered] == [(0, 1), (3,)]
    assert traffic.done["aborted"] == 1
    assert pretender.closed == 3
    assert list(tmp_path.iterdir()) == []


def test_a_chunk_used_after_its_deletion_is_noticed(tmp_path: Path) -> None:
    turns = [Turn((number % 4,), "none", 1, None) for number in range(60)]
    honest = traffic_of(Pretender(tmp_path, answers_after_s=0.03))
    run(honest, turns)
    assert honest.deleted_hits == 0
    assert honest.done["deleted"] > 0
    liar = traffic_of(Pretender(tmp_path, answers_after_s=0.03, forgets=False))
    run(liar, turns)
    assert liar.deleted_hits > 0


def test_alone_the_same_chunks_are_found_and_no_others(tmp_path: Path) -> None:
    pretender = Pretender(tmp_path, answers_after_s=0.02, stored={9})
    traffic = traffic_of(pretender, seed=2)
    run(traffic, [Turn((number % 4, (number + 1) % 4), "none", 1, None) for number in range(40)])
    assert len({tuple(answered.hits) for answered in traffic.answered}) > 1
    alone = Alone(pretender, pretender, PIECES)  # type: ignore[arg-type]
    alone.begin()

    async def differences() -> list[float]:
        return [await alone.difference(answered) for answered in traffic.answered]

    assert max(asyncio.run(differences())) == 0


def test_an_answer_that_cannot_be_had_alone_is_an_error(tmp_path: Path) -> None:
    pretender = Pretender(tmp_path, stored={9, 0})
    traffic = traffic_of(pretender)
    run(traffic, [Turn((0,), "none", 1, None)])
    report = traffic.answered[0].report
    object.__setattr__(report, "reused_tokens", 7)
    with pytest.raises(EngineFailed):
        asyncio.run(Alone(pretender, pretender, PIECES).difference(traffic.answered[0]))  # type: ignore[arg-type]
