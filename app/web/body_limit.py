"""Refusing request bodies that are too large, before they fill memory or disk."""

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.settings import Settings

_ORDINARY_BYTES = 1 << 20
_INDEX_BYTES = 64 << 20
_MULTIPART_BYTES = 64 << 10


class BodyLimit:
    """Counts what arrives; the limit depends on the path."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self._app = app
        self._upload_bytes = settings.max_upload_bytes + _MULTIPART_BYTES

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limit(scope["path"])
        arrived = 0

        async def counted() -> Message:
            nonlocal arrived
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > limit:
                raise HTTPException(413, f"The request is larger than {limit} bytes.")
            return message

        await self._app(scope, counted, send)

    def _limit(self, path: str) -> int:
        if path == "/documents":
            return self._upload_bytes
        return _INDEX_BYTES if path.startswith("/internal/") else _ORDINARY_BYTES
