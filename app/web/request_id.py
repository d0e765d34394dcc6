"""`X-Request-ID`: the client's, or a new one; in every response, and in the context of all that is done for it."""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.core.ids import new_id
from app.core.request_context import (
    REQUEST_ID_HEADER,
    TRACE_HEADERS,
    RequestContext,
    enter_request,
    is_sane_request_id,
)


class RequestIds:
    """The outermost: what stands outside of it answers without an id."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        sent = headers.get(REQUEST_ID_HEADER)
        context = RequestContext(
            sent if is_sane_request_id(sent) else new_id("http"),
            trace={name: headers[name] for name in TRACE_HEADERS if name in headers},
        )
        enter_request(context)  # for good: each request is a task of its own

        async def named(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[REQUEST_ID_HEADER] = context.request_id
            await send(message)

        await self._app(scope, receive, named)
