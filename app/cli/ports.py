"""Whether our ports are free."""

import errno
import os
import socket
import time

import psutil

from app.cli.errors import PortTaken

_SETTLE_SECONDS = 3.0
_PAUSE_SECONDS = 0.1


def require_port(host: str, port: int, setting: str, *, wait_seconds: float = _SETTLE_SECONDS) -> None:
    """Raises PortTaken unless `port` can be listened on.

    Waits a little: processes of a run that was just killed may need a moment to go.
    """
    deadline = time.monotonic() + wait_seconds
    while problem := _problem(host, port):
        if time.monotonic() > deadline or problem != errno.EADDRINUSE:
            raise PortTaken(_sentence(host, port, problem), f"Set {setting} to another port, or free this one.")
        time.sleep(_PAUSE_SECONDS)


def _problem(host: str, port: int) -> int:
    """The error number of listening there, 0 when it works."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        return error.errno or errno.EINVAL
    return 0


def _sentence(host: str, port: int, problem: int) -> str:
    if problem == errno.EADDRINUSE:
        return f"Port {port} is taken{_by_whom(port)}."
    if problem == errno.EACCES:
        return f"This user may not listen on port {port}."
    return f"Cannot listen on {host}, port {port}: {os.strerror(problem) if problem > 0 else 'no such address'}."


def _by_whom(port: int) -> str:
    try:
        for connection in psutil.net_connections("tcp"):
            listens = connection.status == psutil.CONN_LISTEN and connection.laddr[1:] == (port,)
            if listens and connection.pid:
                return f" by {psutil.Process(connection.pid).name()} (process {connection.pid})"
    except (psutil.AccessDenied, psutil.NoSuchProcess):
        return ""
    return ""
