"""Running the web process: `preread web`."""

import logging
import os
import resource
import sys
import threading
import time
from types import FrameType

import uvicorn
from fastapi import FastAPI

from app.core.logs import configure_logging
from app.core.settings import Settings
from app.web.access.strangers import require_somebody
from app.web.draining import Draining
from app.web.main import create_app
from app.web.protocol import ProblemProtocol
from app.web.services import Services

_CLOSE_SECONDS = 3
_OVERDUE_SECONDS = 4.5
_PAUSE_SECONDS = 0.2


class WebServer(uvicorn.Server):
    """Told to stop, it drains first: it goes on serving, but takes no new questions.

    It stops when no answer runs any more. Those that do when `drain_seconds` are over, or when it is told again, end
    with an error event.
    """

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                host=settings.host,
                port=settings.port,
                timeout_graceful_shutdown=_CLOSE_SECONDS,
                server_header=False,
                access_log=False,
                log_config=None,
                http=ProblemProtocol,
            )
        )
        self._app = app
        self.draining = Draining(settings.drain_seconds)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self.draining.ask()

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second."""
        if self.draining.begun:
            services: Services = self._app.state.services
            services.admission.stop()
            if self.draining.over(services.admission.running):
                stop_streams(self._app)
                self.should_exit = True
        return await super().on_tick(counter)


def stop_streams(app: FastAPI) -> None:
    """Let every open answer end with an error event."""
    services: Services = app.state.services
    services.stopping.set()


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM, then end the process; with status 3 when the services cannot be opened.

    Raises NobodyKnown.
    """
    configure_logging(settings)
    require_somebody(settings)
    _allow_many_connections()
    server = WebServer(create_app(settings), settings)
    threading.Thread(target=_end_in_time, args=(server.draining,), name="overdue", daemon=True).start()
    server.run()
    if not server.started:
        raise SystemExit(3)
    # All is closed. Python would now take seconds to take apart the model libraries, and wait for a search that hangs.
    logging.shutdown()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def _end_in_time(draining: Draining) -> None:
    """The process ends, whatever hangs."""
    draining.wait_until_begun()
    while not draining.overdue(_OVERDUE_SECONDS):
        time.sleep(_PAUSE_SECONDS)
    os._exit(1)


def _allow_many_connections() -> None:
    """As many open files as the system allows: a stream takes two, one to the client and one to the engine."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
