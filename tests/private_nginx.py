"""An nginx of a test's own."""

import os
import shutil
import signal
import socket
import subprocess
from contextlib import suppress
from pathlib import Path

from waiting import wait_until

from app.cli.processes import dies_with_parent

_PROGRAMS = ("nginx", "/usr/sbin/nginx")
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


def _program() -> str | None:
    return next((found for name in _PROGRAMS if (found := shutil.which(name))), None)


class PrivateNginx:
    """`servers` is what stands in `http {}`: everything else is as nginx has it by itself."""

    def __init__(self, folder: Path, servers: str) -> None:
        program = _program()
        assert program, "there is no nginx here"
        user = "user root;" if os.geteuid() == 0 else ""  # its own user could not read the test's folder
        paths = "\n".join(f"{name}_temp_path {folder}/{name};" for name in _TEMPORARY)
        config = folder / "nginx.conf"
        config.write_text(f"{user}\npid {folder}/pid;\nevents {{}}\nhttp {{\naccess_log off;\n{paths}\n{servers}\n}}\n")
        self._log = folder / "error.log"
        self._command = [program, "-p", str(folder), "-c", str(config), "-e", str(self._log)]
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, *ports: int) -> None:
        """Returns when it listens on all of them."""
        self._process = subprocess.Popen(
            [*self._command, "-g", "daemon off;"],
            preexec_fn=dies_with_parent(signal.SIGTERM),  # noqa: PLW1509  (it makes one system call)
        )
        for port in ports:
            wait_until(lambda port=port: self._listens(port), f"nginx listens on {port}", 30)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(30)

    def _listens(self, port: int) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self._log.read_text()
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return True
        return False


__all__ = ["PrivateNginx"]
