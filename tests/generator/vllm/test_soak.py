"""A soak in small: questions of all policies at once, some broken off, while chunks are added and deleted and neither
memory nor disk has room for all. Each answer is that of the same request alone, and nothing is left behind."""

import gc
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pytest
import torch
from crowd import Crowd
from fusion_rig import OPENING, TENANT, Answer, Rig, random_ids, segments_of, whole
from tiny_models import save_tiny_model

from app.core.ids import new_id
from generator.fusion_request import FusionRequest, SegmentKind
from generator.identity import piece_identity
from generator.report import FusionReport
from kvstore.blob import encode_blob
from kvstore.codecs.codecs import LOSSLESS
from kvstore.key import Reading
from kvstore.staging import read_staged, staged_path
from kvstore.store import ChunkStore
from kvstore.tiers.disk import DiskTier

SEED = 0
QUESTIONS = 300
AT_ONCE = 4
POOL = 14
CHUNK_TOKENS = (40, 60)
POLICIES = ("none", "head@8", "impact@.1", "impact", "hkvd@.1", "exact", "nested")
SEPARATOR = (7, 8, 9)
BOUND = 2e-5
"""Most that a probability may differ: what another batch changes in float32, and chunks that were pre-read again."""
KV_BYTES_OF_CHUNK = CHUNK_TOKENS[1] * 4 * 2 * 2 * 32 * 4
"""Layers, keys and values, heads, their width, float32."""

Chunk = tuple[int, ...]


@dataclass
class Question:
    """`report` as it stood with the first token."""

    name: str
    ids: list[int]
    chunks: tuple[Chunk, ...]
    request: FusionRequest
    report: FusionReport | None = None

    @property
    def hits(self) -> list[bool]:
        """Whether each chunk's KV came out of the store."""
        assert self.report is not None
        return [chunk.tier in ("memory", "disk") for chunk in self.report.chunks]


@dataclass
class Soak:
    """Steps an engine by hand. `stored`: chunks whose KV was put into the store and not deleted since; the disk may
    have evicted them. `most_waiting`: questions that waited for their KV at the same time."""

    rig: Rig
    preamble: Chunk
    draw: Random
    crowd: Crowd = field(init=False)
    pool: list[Chunk] = field(default_factory=list)
    stored: set[Chunk] = field(default_factory=set)
    readings: dict[str, tuple[Chunk, FusionRequest]] = field(default_factory=dict)
    asked: dict[str, Question] = field(default_factory=dict)
    answered: list[Question] = field(default_factory=list)
    aborted: list[str] = field(default_factory=list)
    deleted: int = 0
    most_waiting: int = 0
    _unclaimed: set[str] = field(default_factory=set)
    _seeds: Iterator[int] = field(default_factory=lambda: iter(range(10_000, 20_000)))

    def __post_init__(self) -> None:
        self.crowd = Crowd(self.rig)
        self.pool = [self._new_chunk() for _ in range(POOL)]

    def run(self, questions: int) -> None:
        left = questions
        while left or self.asked:
            if left and len(self.asked) < AT_ONCE and self.draw.random() < 0.5:
                self._ask()
                left -= 1
            if len(self.readings) < 2 and self.draw.random() < 0.3:
                self._read()
            if self.draw.random() < 0.05:
                self._replace_chunk()
            if self.draw.random() < 0.05:
                self._abort()
            self._step()
        while self.readings:
            self._step()

    def left_by_aborted(self) -> set[Path]:
        """What may be staged of chunks whose pre-reading was broken off; a worker would sweep it."""
        return {self._staged(key) for key in self._unclaimed}

    def settle(self) -> None:
        """A last request lets the engine notice that the others have ended."""
        self.rig.exact([5, 6, 7])

    def _new_chunk(self) -> Chunk:
        return tuple(random_ids(next(self._seeds), self.draw.randint(*CHUNK_TOKENS)))

    def _ask(self) -> None:
        chunks = self.draw.sample(self.pool, self.draw.randint(1, 4))
        policy = self.draw.choice(POLICIES)
        segments = segments_of(self.preamble, *chunks, separator=SEPARATOR)
        ids = list(self.preamble)
        for number, chunk in enumerate(chunks):
            ids += [*(SEPARATOR if number else ()), *chunk]
        ids += random_ids(next(self._seeds), 12)
        nested = policy == "nested"
        request = FusionRequest(new_id("ask"), TENANT, "exact" if nested else policy, segments, nested=nested)
        name = self.crowd.add(ids, request, self.draw.randint(1, 20), traced=True)
        self.asked[name] = Question(name, ids, tuple(chunks), request)

    def _read(self) -> None:
        """Pre-read the preamble or a chunk that the store lacks, beside the answers that run."""
        under_way = {chunk for chunk, _ in self.readings.values()}
        lacking = [each for each in (self.preamble, *self.pool) if each not in under_way and not self._has(each)]
        if not lacking:
            return
        target = lacking[0] if lacking[0] == self.preamble else self.draw.choice(lacking)
        alone = target == self.preamble
        segments = whole(target) if alone else segments_of(self.preamble, target)
        request = FusionRequest(new_id("pre"), TENANT, "none", segments, capture=Reading.OPENING)
        ids = list(target) if alone else [*self.preamble, *target]
        self.readings[self.crowd.add(ids, request, 1)] = target, request

    def _replace_chunk(self) -> None:
        """A document is deleted, now and then the preamble's KV, and another takes its place."""
        place = self.draw.randrange(-1, len(self.pool))
        doomed = self.preamble if place < 0 else self.pool[place]
        for name in [name for name, (chunk, _) in self.readings.items() if chunk == doomed]:
            self._break_off_reading(name)
        self.rig.llm.collective_rpc("preread_purge", args=(TENANT, [self._key(doomed)]))
        self.stored.discard(doomed)
        self.deleted += 1
        if place >= 0 and self.draw.random() < 0.7:
            self.pool[place] = self._new_chunk()

    def _abort(self) -> None:
        victims = [*self.asked, *self.readings]
        if not victims:
            return
        victim = self.draw.choice(victims)
        if victim in self.readings:
            self._break_off_reading(victim)
            return
        self.crowd.engine.abort_request([victim], internal=False)
        del self.asked[victim]
        self.aborted.append(victim)

    def _break_off_reading(self, name: str) -> None:
        self.crowd.engine.abort_request([name], internal=False)
        chunk, _ = self.readings.pop(name)
        self._unclaimed.add(self._key(chunk))

    def _step(self) -> None:
        self.crowd.step()
        self.most_waiting = max(self.most_waiting, self.rig.scheduler_side.admission.waiting_requests)
        for question in list(self.asked.values()):
            self._observe(question)
        for name in [name for name in self.readings if name in self.crowd.finished]:
            self._store(name)

    def _observe(self, question: Question) -> None:
        note = self.rig.notes.read("report", question.request.request_id) if question.report is None else None
        if note:
            question.report = FusionReport.from_json(note)
            used = {chunk for chunk, hit in zip(question.chunks, question.hits, strict=True) if hit}
            assert used <= self.stored, "chunk KV was used after its deletion"
        if question.name in self.crowd.finished:
            self.answered.append(self.asked.pop(question.name))

    def _store(self, name: str) -> None:
        """As a worker does, once the engine has staged a chunk."""
        chunk, request = self.readings[name]
        note = self.rig.notes.read("capture", request.request_id)
        if note is None:
            return
        assert note["problem"] is None, note["problem"]
        staged = self._staged(self._key(chunk))
        identity, kv = read_staged(staged)
        staged.unlink()
        self.rig.store.put(TENANT, encode_blob(kv, identity, LOSSLESS))
        self.stored.add(chunk)
        del self.readings[name]

    def _has(self, chunk: Chunk) -> bool:
        return bool(self.rig.store.contains(TENANT, [self._key(chunk)]))

    def _staged(self, key: str) -> Path:
        return staged_path(Path(self.rig.config.staging_dir), key)

    def _key(self, chunk: Chunk) -> str:
        return piece_identity(self.rig.config.fingerprint, self.preamble, chunk, Reading.OPENING).key


def alone(rig: Rig, preamble: Sequence[int], question: Question) -> Answer:
    """The same request with nothing beside it and the same hits. A report does not tell whether the preamble's KV was
    there, but how many tokens were reused does."""
    assert question.report is not None
    hit = [chunk for chunk, hit in zip(question.chunks, question.hits, strict=True) if hit]
    rig.preread(preamble, *hit)
    for with_preamble in (True, False):
        found = iter(question.hits)
        segments = tuple(
            replace(
                segment,
                readings=OPENING
                if (segment.kind is SegmentKind.CHUNK and next(found))
                or (segment.kind is SegmentKind.PREAMBLE and with_preamble)
                else (),
            )
            for segment in question.request.segments
        )
        request = replace(question.request, request_id=new_id("ask"), segments=segments)
        answer = rig.fused(question.ids, request)
        assert answer.report is not None
        if question.request.policy == "exact" or answer.report.reused_tokens == question.report.reused_tokens:
            return answer
    raise AssertionError(f"alone other tokens are reused: {answer.report}, not {question.report}")


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """A float32 engine whose memory holds four chunks and whose disk holds about nine."""
    state = tmp_path_factory.mktemp("soak")
    engine = Rig.start(
        save_tiny_model("llama", state / "model"),
        state,
        kv_memory_bytes=4 * KV_BYTES_OF_CHUNK,
        kv_disk_bytes=9 * KV_BYTES_OF_CHUNK,
        max_num_batched_tokens=256,
        num_gpu_blocks_override=128,
        block_size=32,
    )
    yield engine
    engine.close()


def tensor_bytes(*ours: torch.Tensor) -> int:
    """Bytes of the tensors alive in this process, `ours` excepted. The process's size would tell less: oneDNN keeps
    code for up to a thousand shapes."""
    gc.collect()
    mine = {tensor.untyped_storage().data_ptr() for tensor in ours}
    storages = [each.untyped_storage() for each in gc.get_objects() if type(each) is torch.Tensor]
    return sum({each.data_ptr(): each.nbytes() for each in storages if each.data_ptr() not in mine}.values())


def apart(one: torch.Tensor, other: torch.Tensor) -> float:
    """The largest difference of probabilities; (vocabulary,) log-probabilities."""
    return float((one.exp() - other.exp()).abs().max())


def test_every_answer_of_a_soak_is_that_of_the_request_alone_and_nothing_is_left_behind(
    rig: Rig, preamble: list[int]
) -> None:
    blocks = rig.core.scheduler.kv_cache_manager.block_pool
    free_blocks = blocks.get_num_free_blocks()
    soak = Soak(rig, tuple(preamble), Random(SEED))
    soak.run(QUESTIONS // 3)
    soak.settle()
    threads, memory = threading.active_count(), tensor_bytes(*soak.crowd.first.values())
    soak.run(QUESTIONS - QUESTIONS // 3)
    soak.settle()

    assert rig.scheduler_side.tracked_requests == 0
    assert rig.scheduler_side.admission.waiting_requests == 0
    assert rig.worker_side.held_requests == 0
    assert not rig.worker_side.capturing
    assert rig.core.scheduler.requests == {}
    assert blocks.get_num_free_blocks() == free_blocks
    assert set(Path(rig.config.staging_dir).glob("*.safetensors")) <= soak.left_by_aborted()
    assert threading.active_count() <= threads
    assert tensor_bytes(*soak.crowd.first.values()) - memory <= rig.config.kv_memory_bytes

    tiers = Counter(chunk.tier for question in soak.answered if question.report for chunk in question.report.chunks)
    proof = f"{tiers}, {len(soak.aborted)} aborted, {soak.deleted} deleted, {soak.most_waiting} waited at once"
    assert min(tiers["memory"], tiers["disk"], tiers[None]) > 30, f"this proves little: {proof}"
    assert min(len(soak.aborted), soak.deleted) > 10, f"this proves little: {proof}"
    assert soak.most_waiting > 0, f"this proves little: {proof}"

    rig.store = ChunkStore([DiskTier(Path(rig.config.tiers.dir), 10**9)])
    replayed = [(question, alone(rig, preamble, question).logprobs[0]) for question in soak.answered]
    worst, question = max(
        ((apart(soak.crowd.first[asked.name], logprobs), asked) for asked, logprobs in replayed),
        key=lambda each: each[0],
    )
    assert worst <= BOUND, f"{question.request.policy}: {question.report}"
    reused = [each for each in replayed if each[0].request.policy == "none" and sum(each[0].hits) > 1]
    assert max(apart(rig.exact(asked.ids).logprobs[0], logprobs) for asked, logprobs in reused) > 1e-2, (
        "reused KV must show, or equal answers prove nothing"
    )
