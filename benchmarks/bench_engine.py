"""An engine of the benchmark's own, with empty folders, so that nothing measured touches what users have stored."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from app.core.errors import SetupError
from app.core.settings import Settings
from generator.chat import ModelTokenizer
from generator.chunk_reader import ChunkReader
from generator.engine import EngineClient, EngineStatus
from generator.errors import EngineUnavailable
from generator.identity import piece_identity
from generator.launch import engine_command
from generator.model_source import resolve_model
from generator.preamble import Preamble, build_preamble
from generator.prompt import fixed_pieces
from kvstore.key import Reading
from kvstore.store import ChunkStore
from kvstore.tiers.disk import DiskTier

TENANT = "bench"
_POLL_SECONDS = 0.25


@dataclass(frozen=True)
class BenchEngine:
    client: EngineClient
    status: EngineStatus
    tokenizer: ModelTokenizer
    preamble: Preamble
    reader: ChunkReader

    def preread(self, chunks: list[list[int]]) -> None:
        """Pre-read the preamble, the numbers and the chunks' opening KV."""
        for ids in [*fixed_pieces(self.tokenizer, self.preamble, len(chunks)), *chunks]:
            identity = piece_identity(self.status.fingerprint, self.preamble.ids, ids, Reading.OPENING)
            self.reader.read(TENANT, ids, identity)


@contextmanager
def bench_engine(settings: Settings) -> Iterator[BenchEngine]:
    """Start the engine for the configured model, wait until it serves, stop it at the end.

    Raises SetupError with the end of its log when it does not come up in `engine_start_seconds`.
    """
    with TemporaryDirectory(prefix="preread-bench-") as folder:
        state = Path(folder)
        own = settings.model_copy(update={"state_dir": state, "kv_dir": None, "staging_dir": None})
        own = own.model_copy(update={"engine_port": _free_port(), "engine_url": ""})
        model = resolve_model(own)
        command, environment = engine_command(own, model)
        with (state / "engine.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                env={**os.environ, **environment, "PREREAD_STATE_DIR": folder},
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        try:
            client = EngineClient(own.effective_engine_url)
            status = _wait(client, process, own, state / "engine.log")
            tokenizer = ModelTokenizer(model)
            preamble = build_preamble(tokenizer, own)
            store = ChunkStore([DiskTier(own.effective_kv_dir, own.kv_disk_bytes)])
            reader = ChunkReader(client, store, own.effective_staging_dir, preamble)
            yield BenchEngine(client, status, tokenizer, preamble, reader)
        finally:
            process.terminate()
            process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait(client: EngineClient, process: subprocess.Popen[bytes], settings: Settings, log: Path) -> EngineStatus:
    deadline = time.monotonic() + settings.engine_start_seconds
    while process.poll() is None and time.monotonic() < deadline:
        try:
            return client.status()
        except EngineUnavailable:
            time.sleep(_POLL_SECONDS)
    raise SetupError(f"The engine did not start. The end of its log:\n{log.read_text()[-3000:]}")
