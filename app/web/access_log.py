"""One line a request: what was asked for, how it ended, how long it took. Never what was asked, nor a query string."""

import logging
import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.request_context import current_request

log = logging.getLogger(__name__)

_NO_ROUTE = "(no route)"
_ABORTED = 499


class AccessLog:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, sent_bytes, begun = _ABORTED, 0, time.perf_counter()

        async def counted(message: Message) -> None:
            nonlocal status, sent_bytes
            if message["type"] == "http.response.start":
                status = message["status"]
            sent_bytes += len(message.get("body", b""))
            await send(message)

        try:
            await self._app(scope, receive, counted)
        finally:
            milliseconds = round(1000 * (time.perf_counter() - begun), 1)
            request = current_request()
            # The path as it was sent may hold anything; its template does not.
            path = getattr(scope.get("route"), "path", _NO_ROUTE) or _NO_ROUTE
            fields = {
                "method": scope["method"],
                "path": path,
                "status": status,
                "ms": milliseconds,
                "bytes": sent_bytes,
                "principal": request.principal.id if request and request.principal else None,
            }
            log.info(
                "%s %s %d, %.1f ms, %d bytes", scope["method"], path, status, milliseconds, sent_bytes, extra=fields
            )
