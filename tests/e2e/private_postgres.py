"""A Postgres server of a test's own, on a socket."""

import os
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from waiting import wait_until

from app.cli.processes import dies_with_parent


def postgres_programs() -> Path | None:
    """Where `initdb` and `pg_ctl` are, if a Postgres server is installed."""
    found = shutil.which("initdb")
    folders = [Path(found).resolve().parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((folder for folder in folders if (folder / "pg_ctl").exists()), None)


class PrivatePostgres:
    """`url` is of its one database, `preread`. Its folder is a short one of its own: it holds a socket."""

    def __init__(self) -> None:
        programs = postgres_programs()
        assert programs, "there is no Postgres server here"
        self._programs = programs
        self._user = "postgres" if os.geteuid() == 0 else None  # the server refuses to run as root
        self.folder = Path(tempfile.mkdtemp(prefix="preread-postgres-"))
        if self._user:
            shutil.chown(self.folder, self._user)
        self.url = f"postgresql+psycopg://preread@/preread?host={self.folder}"
        self._server: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        data = str(self.folder / "data")
        self._run("initdb", "-D", data, "-U", "preread", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync")
        options = "listen_addresses=", f"unix_socket_directories={self.folder}", "fsync=off"
        with (self.folder / "log").open("wb") as log:
            self._server = subprocess.Popen(
                [self._programs / "postgres", "-D", data, *(f"-c{option}" for option in options)],
                user=self._user, cwd=self.folder, stdout=log, stderr=log,
                preexec_fn=dies_with_parent(signal.SIGQUIT),  # noqa: PLW1509  (the one thread that starts processes)
            )  # fmt: skip
        wait_until(self._answers, "Postgres answers", 60)
        self._run("createdb", "-h", str(self.folder), "-U", "preread", "preread")

    def stop(self) -> None:
        if self._server is not None:
            self._server.send_signal(signal.SIGINT)
            self._server.wait(60)
        shutil.rmtree(self.folder)

    def _answers(self) -> bool:
        ready = subprocess.run(
            [self._programs / "pg_isready", "-h", str(self.folder)], stdout=subprocess.DEVNULL, check=False
        )
        return ready.returncode == 0

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [self._programs / program, *arguments],
            check=True, user=self._user, cwd=self.folder, stdout=subprocess.DEVNULL, timeout=60,
        )  # fmt: skip


__all__ = ["PrivatePostgres", "postgres_programs"]
