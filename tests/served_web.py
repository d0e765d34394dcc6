"""The web process's server, in a thread of a test."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
from credentials import admin_headers
from fastapi import FastAPI
from waiting import wait_until

from app.core.settings import Settings
from app.web.server import WebServer

_STOP_SECONDS = 30


@contextmanager
def web_served(
    app: FastAPI, settings: Settings, *, port: int, timeout_seconds: float
) -> Iterator[tuple[WebServer, httpx.Client]]:
    """The server and a client of it, an admin's. Port 0: one that is free."""
    server = WebServer(app, settings)
    server.config.port = port
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started or not thread.is_alive(), "web has started")
    bound = server.servers[0].sockets[0].getsockname()[1]
    headers = admin_headers(app.state.services.catalog, settings.tenant)
    with httpx.Client(base_url=f"http://127.0.0.1:{bound}", timeout=timeout_seconds, headers=headers) as client:
        yield server, client
    server.should_exit = True
    thread.join(_STOP_SECONDS)
