"""Large bodies are read of those alone who are known: a body is read before anything asks who sends it."""

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.errors import PrereadError
from app.web.access.access import Access

_STRANGERS_BYTES = 64 << 10
_INTERNAL = "/internal/"


class KnownBody:
    """Whoever is not known gets their 401 after 64 KiB; internal routes have a secret of their own."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(_INTERNAL):
            await self._app(scope, receive, send)
            return
        arrived, is_known = 0, False

        async def from_known() -> Message:
            nonlocal arrived, is_known
            message = await receive()
            arrived += len(message.get("body", b""))
            if arrived > _STRANGERS_BYTES and not is_known:
                await _require_known(scope)
                is_known = True
            return message

        await self._app(scope, from_known, send)


async def _require_known(scope: Scope) -> None:
    """Raises HTTPException, which alone comes through while a body is being read."""
    access: Access = scope["app"].state.access
    try:
        await access.gatekeeper.principal(HTTPConnection(scope))
    except PrereadError as error:
        raise HTTPException(error.status, error.message, dict(error.headers)) from error
