"""A Redis of its own for chunk KV, on a socket in a folder, that may be killed and started again."""

import subprocess
import time
from pathlib import Path

from app.cli.redis_server import redis_answers, redis_binary

_DEADLINE_SECONDS = 20


class KVRedis:
    """Raises: ProgramMissing without a redis-server; TimeoutError when it does not come up."""

    def __init__(self, folder: Path, memory: str) -> None:
        self._socket = folder / "kv.sock"
        options = {
            "port": "0",
            "unixsocket": str(self._socket),
            "dir": str(folder),
            "save": "",
            "maxmemory": memory,
            "maxmemory-policy": "volatile-lru",
        }
        self._command = [redis_binary(), *(part for name, value in options.items() for part in (f"--{name}", value))]
        self._start()

    @property
    def url(self) -> str:
        return f"unix://{self._socket}"

    def kill(self) -> None:
        """With all it holds; it is up again when this returns."""
        self._process.kill()
        self._process.wait()
        self._start()

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()

    def _start(self) -> None:
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        deadline = time.monotonic() + _DEADLINE_SECONDS
        while not redis_answers(self._socket):
            if time.monotonic() > deadline:
                raise TimeoutError("Redis did not come up.")
            time.sleep(0.02)


__all__ = ["KVRedis"]
