"""The pages: the front end's build output, and what a browser may do with it."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import FastAPI
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

STATIC = Path(__file__).parent.parent / "static"

_HASHED = "/assets/"
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
    "object-src 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}


def add_pages(app: FastAPI, static: Path = STATIC) -> None:
    """Serve the pages at `/`, where they have been built. A mount at `/` would hide the methods of other routes."""
    if not (static / "index.html").is_file():
        return
    app.mount("/assets", StaticFiles(directory=static / "assets", check_dir=False), name="assets")
    for file in static.iterdir():
        if file.is_file():
            path = "/" if file.name == "index.html" else f"/{file.name}"
            app.add_route(path, _page(file), methods=["GET", "HEAD"], include_in_schema=False)


def _page(file: Path) -> Callable[[Request], Awaitable[Response]]:
    async def page(_: Request) -> Response:
        return FileResponse(file)

    return page


class PageHeaders:
    """Security headers on everything; hashed files are cached for good."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                if scope["path"].startswith(_HASHED) and message["status"] == 200:
                    headers["Cache-Control"] = "public, max-age=31536000, immutable"
                else:
                    headers.setdefault("Cache-Control", "no-cache")
            await send(message)

        await self._app(scope, receive, with_headers)
