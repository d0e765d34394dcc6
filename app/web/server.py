"""Running the web process: `preread web`."""

from types import FrameType

import uvicorn
from fastapi import FastAPI

from app.core.settings import Settings
from app.web.access.strangers import require_somebody
from app.web.main import create_app

_GRACE_SECONDS = 10


class WebServer(uvicorn.Server):
    """Told to stop, it first lets open streams end with an error event."""

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                host=settings.host,
                port=settings.port,
                timeout_graceful_shutdown=_GRACE_SECONDS,
                server_header=False,
                access_log=False,
            )
        )
        self._app = app

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        stop_streams(self._app)
        super().handle_exit(sig, frame)


def stop_streams(app: FastAPI) -> None:
    """Let every open answer end with an error event."""
    services = getattr(app.state, "services", None)
    if services is not None:
        services.stopping.set()


def serve(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM. Exits with status 3 when the services cannot be opened.

    Raises NobodyKnown.
    """
    require_somebody(settings)
    server = WebServer(create_app(settings), settings)
    server.run()
    if not server.started:
        raise SystemExit(3)
