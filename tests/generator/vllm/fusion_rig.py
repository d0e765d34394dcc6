"""A real vLLM engine in this process with our connector, and the few things tests ask of it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waiting import wait_until

os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")

import torch
from vllm import LLM, SamplingParams
from vllm.config import KVTransferConfig
from vllm.distributed import cleanup_dist_env_and_memory

from app.core.ids import new_id
from generator.engine import cache_salt
from generator.engine_config import EngineConfig
from generator.fingerprint import model_fingerprint
from generator.fusion_request import FusionRequest, Segment, SegmentKind
from generator.identity import chunk_identity
from generator.preamble import Preamble
from generator.prompt import chunk_prompt
from generator.report import FusionReport
from generator.vllm.notes import Notes
from generator.vllm.scheduler_side import SchedulerSide
from generator.vllm.worker_side import WorkerSide
from kvstore.blob import encode_blob
from kvstore.chunk_kv import ChunkKV
from kvstore.codecs.codecs import LOSSLESS
from kvstore.identity import BlobIdentity
from kvstore.key import Reading
from kvstore.staging import read_staged, staged_path
from kvstore.store import ChunkStore
from kvstore.tiers.configured import TierOptions, configured_tiers

TENANT = "tests"
OPENING = (Reading.OPENING,)


@dataclass
class Answer:
    """`logprobs`: (tokens, vocabulary) float32, one row per generated token."""

    token_ids: list[int]
    logprobs: torch.Tensor
    report: FusionReport | None


@dataclass
class Rig:
    llm: LLM
    config: EngineConfig
    notes: Notes
    store: ChunkStore = field(init=False)

    def __post_init__(self) -> None:
        self.store = ChunkStore(configured_tiers(self.config.tiers, ""))

    @classmethod
    def start(
        cls,
        model: Path,
        state: Path,
        dtype: str = "float32",
        *,
        kv_disk_bytes: int = 10**9,
        kv_memory_bytes: int = 10**8,
        other_tiers: Mapping[str, Any] | None = None,
        **engine: Any,
    ) -> "Rig":
        """`other_tiers`: options of the tiers beside the disk."""
        fingerprint = model_fingerprint(model, dtype)
        tiers = TierOptions(str(state / "kv"), kv_disk_bytes, **(other_tiers or {}))
        profiles = str(state / "profiles")
        config = EngineConfig(fingerprint, str(state / "staging"), tiers, kv_memory_bytes, profiles_dir=profiles)
        options: dict[str, Any] = {
            "model": str(model),
            "dtype": dtype,
            "skip_tokenizer_init": True,
            "max_model_len": 2048,
            "max_num_batched_tokens": 2048,
            "enforce_eager": True,
            "enable_prefix_caching": True,
            "max_logprobs": -1,
            "worker_cls": "generator.vllm.worker.FusionWorker",
            "scheduler_cls": "generator.vllm.scheduler.TurnTakingScheduler",
            "kv_transfer_config": KVTransferConfig(
                kv_connector="FusionConnector",
                kv_connector_module_path="generator.vllm.connector",
                kv_role="kv_both",
                kv_load_failure_policy="recompute",
                kv_connector_extra_config=config.to_json(),
            ),
        }
        return cls(LLM(**{**options, **engine}), config, Notes(config.notes_dir))

    def close(self) -> None:
        self.llm.llm_engine.engine_core.shutdown()
        cleanup_dist_env_and_memory()

    @property
    def core(self) -> Any:
        return self.llm.llm_engine.engine_core.engine_core

    @property
    def scheduler_side(self) -> SchedulerSide:
        return self.core.scheduler.connector.scheduler_side

    @property
    def worker_side(self) -> WorkerSide:
        return self.core.model_executor.driver_worker.worker._connector().worker_side

    def kv_files(self) -> list[Path]:
        return list(Path(self.config.tiers.dir).rglob("*.kv"))

    def status(self) -> dict[str, Any]:
        return self.llm.collective_rpc("preread_status")[0]

    def ask(self, requests: Sequence[tuple[Sequence[int], FusionRequest | None]], max_tokens: int = 1) -> list[Answer]:
        """Serve the prompts together in one batch; None: a plain request with a salt of its own."""
        prompts: list[Any] = []
        sampling = []
        for ids, request in requests:
            salt = cache_salt(request) if request else new_id("salt")
            prompts.append({"prompt_token_ids": list(ids), "cache_salt": salt})
            extra = {"kv_transfer_params": request.to_params()} if request else {}
            sampling.append(
                SamplingParams(
                    temperature=0,
                    max_tokens=max_tokens,
                    ignore_eos=True,
                    logprobs=-1,
                    detokenize=False,
                    extra_args=extra,
                )
            )
        answers = []
        for output, (_, request) in zip(self.llm.generate(prompts, sampling, use_tqdm=False), requests, strict=True):
            rows = output.outputs[0].logprobs
            assert rows is not None
            logprobs = torch.tensor([[row[t].logprob for t in range(len(row))] for row in rows])
            note = self.notes.read("report", request.request_id) if request else None
            answers.append(
                Answer(list(output.outputs[0].token_ids), logprobs, FusionReport.from_json(note) if note else None)
            )
        return answers

    def exact(self, ids: Sequence[int], max_tokens: int = 1) -> Answer:
        return self.ask([(ids, None)], max_tokens)[0]

    def fused(self, ids: Sequence[int], request: FusionRequest, max_tokens: int = 1) -> Answer:
        return self.ask([(ids, request)], max_tokens)[0]

    def capture(
        self, ids: Sequence[int], segments: tuple[Segment, ...], reading: Reading = Reading.OPENING
    ) -> str | None:
        """Pre-read the last segment; returns the problem the engine noted."""
        request = FusionRequest(new_id("pre"), TENANT, "none", segments, capture=reading)
        self.ask([(ids, request)])
        # One more step lets the engine notice that the request has finished.
        self.exact([5, 6, 7])
        note = wait_for_note(self.notes, request.request_id)
        return note["problem"]

    def preread(self, preamble: Sequence[int], *chunks: Sequence[int]) -> None:
        """Capture the preamble and the chunks and put them into the store."""
        targets: list[tuple[Sequence[int], Sequence[int]]] = [((), preamble), *((preamble, chunk) for chunk in chunks)]
        for before, ids in targets:
            key = chunk_identity(self.config.fingerprint, before, ids, Reading.OPENING).key
            if self.store.contains(TENANT, [key]):
                continue
            problem = self.capture([*before, *ids], segments_of(before, ids) if before else whole(ids))
            assert problem is None, problem
            identity, kv = read_staged(staged_path(Path(self.config.staging_dir), key))
            self.store.put(TENANT, encode_blob(kv, identity, LOSSLESS))

    def preread_behind(self, preamble: Sequence[int], passage: Sequence[int], *chunks: Sequence[int]) -> None:
        """Capture the chunks behind preamble and passage, and put those conditioned readings into the store."""
        for chunk in chunks:
            prompt = chunk_prompt(Preamble(tuple(preamble), ()), chunk, passage, passage_stored=True)
            problem = self.capture(prompt.token_ids, prompt.segments, Reading.CONDITIONED)
            assert problem is None, problem
            identity, kv = self.staged(preamble, chunk, Reading.CONDITIONED)
            self.store.put(TENANT, encode_blob(kv, identity, LOSSLESS))

    def staged(self, preamble: Sequence[int], chunk: Sequence[int], reading: Reading) -> tuple[BlobIdentity, ChunkKV]:
        """What was captured of a chunk."""
        key = chunk_identity(self.config.fingerprint, preamble, chunk, reading).key
        return read_staged(staged_path(Path(self.config.staging_dir), key))


def wait_for_note(notes: Notes, request_id: str) -> dict[str, Any]:
    note = wait_until(lambda: notes.read("capture", request_id), "the engine leaves a note of the capture", 20)
    assert note is not None
    return note


def request_for(policy: str, segments: tuple[Segment, ...], *, nested: bool = False) -> FusionRequest:
    return FusionRequest(new_id("ask"), TENANT, policy, segments, nested=nested)


def distance(one: Answer, other: Answer) -> float:
    """Largest difference between two next-token distributions, in probability."""
    return float((one.logprobs.exp() - other.logprobs.exp()).abs().max())


def whole(ids: Sequence[int]) -> tuple[Segment, ...]:
    return (Segment(0, len(ids), SegmentKind.CHUNK),)


def segments_of(
    preamble: Sequence[int], *chunks: Sequence[int], separator: Sequence[int] = (), readings: Any = OPENING
) -> tuple[Segment, ...]:
    segments = [Segment(0, len(preamble), SegmentKind.PREAMBLE, readings)]
    for number, chunk in enumerate(chunks):
        if number and separator:
            at = segments[-1].end
            segments.append(Segment(at, at + len(separator), SegmentKind.TEXT))
        at = segments[-1].end
        segments.append(Segment(at, at + len(chunk), SegmentKind.CHUNK, readings))
    return tuple(segments)


def random_ids(seed: int, count: int, vocabulary: int = 384) -> list[int]:
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(3, vocabulary, (count,), generator=generator).tolist()
