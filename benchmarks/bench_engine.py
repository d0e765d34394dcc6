"""An engine of the benchmark's own, with empty folders, so that nothing measured touches what users have stored."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory

import torch

from app.cli.processes import dies_with_parent
from app.core.errors import SetupError
from app.core.settings import Settings
from benchmarks.context import Piece
from benchmarks.free_port import free_port
from benchmarks.tenants import tenant_of
from benchmarks.timed_client import TimedClient
from generator.chat import ModelTokenizer
from generator.chunk_reader import ChunkReader
from generator.conditioning import Conditioning, ConditioningPassage, passages, shared_pieces
from generator.engine import EngineClient, EngineStatus
from generator.errors import EngineUnavailable
from generator.identity import chunk_identity, piece_identity
from generator.in_flight import InFlight
from generator.in_force import effective_codec
from generator.launch import engine_command
from generator.model_source import resolve_model
from generator.preamble import Preamble, build_preamble
from generator.prompt import Prompt, assemble
from generator.traces import PROCESSOR, traces_dir
from kvstore.codecs.base import Codec
from kvstore.codecs.codecs import LOSSLESS, Codecs
from kvstore.key import Reading, chunk_key
from kvstore.store import ChunkStore
from kvstore.tiers.configured import TierOptions, configured_tiers

_POLL_SECONDS = 0.25
_STOP_SECONDS = 30.0


@dataclass(frozen=True)
class BenchEngine:
    """codec: what chunks are stored with. traces: where the engine leaves the distributions that requests ask for.

    settings: the engine's own, with its folders.
    """

    client: TimedClient
    status: EngineStatus
    tokenizer: ModelTokenizer
    preamble: Preamble
    reader: ChunkReader
    codec: Codec
    traces: Path
    settings: Settings

    def prompt(
        self, pieces: Sequence[Piece], question: str, answer_tokens: int, *, conditioned: bool = False
    ) -> Prompt:
        """Raises QuestionTooLong where prompt and answer do not fit the model."""
        limit = self.status.max_model_tokens - answer_tokens
        chunks = [piece.ids for piece in pieces]
        return assemble(self.tokenizer, self.preamble, chunks, question, limit, conditioned=conditioned)

    def preread_fixed(self, chunks: int, conditioning: Conditioning) -> None:
        """Pre-read what prompts of up to `chunks` chunks share."""
        for piece in shared_pieces(self.tokenizer, self.preamble, chunks, conditioning):
            if piece.passage is None:
                self._read_opening(tenant_of(conditioning), piece.token_ids, LOSSLESS)
            else:
                self._read_behind(tenant_of(conditioning), piece.token_ids, piece.passage, LOSSLESS)

    def preread(self, pieces: Sequence[Piece], conditioning: Conditioning) -> None:
        """Pre-read chunks as a prompt in this order wants them: without conditioning each right behind the preamble;
        with it the first one so, and the others behind their passage."""
        tenant = tenant_of(conditioning)
        for place, piece in enumerate(pieces):
            if place == 0 or conditioning is Conditioning.OFF:
                self._read_opening(tenant, piece.ids, self.codec)
            else:
                self._read_conditioned(tenant, piece, conditioning)

    def preread_both(self, pieces: Sequence[Piece], conditioning: Conditioning, in_flight: int = 1) -> int:
        """Pre-read both readings of every chunk, as the service does where it conditions; returns how many they were.

        So many are under way at once, as in a worker.
        """
        tenant = tenant_of(conditioning)
        reads: list[Callable[[], None]] = []
        for piece in pieces:
            reads.append(partial(self._read_opening, tenant, piece.ids, self.codec))
            if conditioning is not Conditioning.OFF:
                reads.append(partial(self._read_conditioned, tenant, piece, conditioning))
        with InFlight[int, None](in_flight) as under_way:
            for number, read in enumerate(reads):
                if under_way.full:
                    _raise(under_way.landed()[1])
                under_way.start(number, read)
            while under_way:
                _raise(under_way.landed()[1])
        return len(reads)

    def forget(self, pieces: Sequence[Piece], conditioning: Conditioning) -> None:
        """Drop the chunks' KV, so that a long run does not fill the disk."""
        keys = [
            chunk_key(self.status.fingerprint, self.preamble.ids, piece.ids, reading)
            for piece in pieces
            for reading in Reading
        ]
        self.client.purge(tenant_of(conditioning), keys)

    def _read_opening(self, tenant: str, ids: Sequence[int], codec: Codec) -> None:
        identity = piece_identity(self.status.fingerprint, self.preamble.ids, ids, Reading.OPENING)
        self.reader.read(tenant, ids, identity, codec=codec)

    def _read_conditioned(self, tenant: str, piece: Piece, conditioning: Conditioning) -> None:
        passage = passages(self.tokenizer, conditioning).of(piece.before, shared=False)
        self._read_behind(tenant, piece.ids, passage, self.codec)

    def _read_behind(self, tenant: str, ids: Sequence[int], passage: ConditioningPassage, codec: Codec) -> None:
        identity = chunk_identity(
            self.status.fingerprint, self.preamble.ids, ids, Reading.CONDITIONED, passage.token_ids
        )
        self.reader.read(tenant, ids, identity, passage, codec)


def _raise(result: BaseException | None) -> None:
    if result is not None:
        raise result


@contextmanager
def bench_engine(settings: Settings, *, traced: bool = False) -> Iterator[BenchEngine]:
    """Start the engine for the configured model, wait until it serves, stop it at the end.

    It has folders of its own, but knows the gate results and profiles of the configured state. This process computes
    on one core from then on, as a worker does. `traced` loads the
    processor that keeps distributions and forces tokens (`generator.traces`).
    Raises SetupError with the end of its log when it does not come up in `engine_start_seconds`.
    """
    torch.set_num_threads(1)
    with TemporaryDirectory(prefix="preread-bench-") as folder:
        state = Path(folder)
        own = settings.model_copy(update={"state_dir": state, "kv_dir": None, "staging_dir": None})
        own = own.model_copy(update={"kv_redis_url": "", "kv_object_url": ""})
        own = own.model_copy(update={"engine_port": free_port(), "engine_url": ""})
        for name in ("gates", "profiles"):
            if (settings.state_dir / name).is_dir():
                copytree(settings.state_dir / name, state / name)
        model = resolve_model(own)
        command, environment = engine_command(own, model)
        if traced:
            command += ["--logits-processors", PROCESSOR]
        with (state / "engine.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                env={**os.environ, **environment, **_folders(own)},
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=dies_with_parent(signal.SIGTERM),  # noqa: PLW1509  (it makes one system call)
            )
        try:
            client = TimedClient(own.effective_engine_url)
            status = _wait(client, process, own, state / "engine.log")
            tokenizer = ModelTokenizer(model)
            preamble = build_preamble(tokenizer, own)
            key = own.kv_encryption_key.get_secret_value()
            store = ChunkStore(configured_tiers(TierOptions.from_settings(own), key))
            reader = ChunkReader(client, store, own.effective_staging_dir, preamble)
            codecs = Codecs.beside(own.profiles_dir)
            codec = effective_codec(own, status.fingerprint, codecs)
            traces = traces_dir(own.effective_staging_dir)
            yield BenchEngine(client, status, tokenizer, preamble, reader, codec, traces, own)
        finally:
            _stop(process)


def _folders(settings: Settings) -> dict[str, str]:
    return {
        "PREREAD_STATE_DIR": str(settings.state_dir),
        "PREREAD_KV_DIR": str(settings.effective_kv_dir),
        "PREREAD_STAGING_DIR": str(settings.effective_staging_dir),
    }


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the engine and its processes. One that is still loading its model does not heed the request to stop."""
    process.terminate()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait(client: EngineClient, process: subprocess.Popen[bytes], settings: Settings, log: Path) -> EngineStatus:
    deadline = time.monotonic() + settings.engine_start_seconds
    while process.poll() is None and time.monotonic() < deadline:
        try:
            return client.status()
        except EngineUnavailable:
            time.sleep(_POLL_SECONDS)
    raise SetupError(f"The engine did not start. The end of its log:\n{log.read_text()[-3000:]}")
