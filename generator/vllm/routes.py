"""Routes that Preread adds to vLLM's server, as a middleware: status, reports, capture outcomes, purge."""

import asyncio
import json
from http import HTTPStatus
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from app.core.settings import get_settings
from generator.vllm.forgetting import Forgetting
from generator.vllm.notes import Notes
from kvstore.errors import BadName
from kvstore.names import checked_key, checked_tenant

_PREFIX = "/preread/"
_WAIT_SECONDS = 30.0
_POLL_SECONDS = 0.005


class EngineRoutes:
    """Everything under `/preread/`; all else goes on to vLLM."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._notes = Notes(get_settings().effective_staging_dir / "notes")
        self._forgetting = Forgetting()
        self._status: dict[str, Any] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"].startswith(_PREFIX):
            response = await self._answer(Request(scope, receive))
            await response(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        match request.method, request.url.path.removeprefix(_PREFIX).split("/"):
            case "GET", ["status"]:
                return await self._get_status(request)
            case "GET", ["reports", request_id]:
                return await self._get_note("report", request_id)
            case "GET", ["captures", request_id]:
                return await self._get_note("capture", request_id)
            case "POST", ["purge"]:
                return await self._purge(request)
            case _:
                return _problem(HTTPStatus.NOT_FOUND, "no such route")

    async def _get_status(self, request: Request) -> Response:
        if self._status is None:
            engine = request.app.state.engine_client
            self._status = (await engine.collective_rpc("preread_status"))[0]
        return JSONResponse(self._status)

    async def _get_note(self, kind: str, request_id: str) -> Response:
        deadline = asyncio.get_running_loop().time() + _WAIT_SECONDS
        while (note := self._notes.read(kind, request_id)) is None:
            if asyncio.get_running_loop().time() > deadline:
                return _problem(HTTPStatus.NOT_FOUND, f"no {kind} of request {request_id}")
            await asyncio.sleep(_POLL_SECONDS)
        return JSONResponse(note)

    async def _purge(self, request: Request) -> Response:
        try:
            body = json.loads(await request.body())
            tenant, keys = checked_tenant(body["tenant"]), [checked_key(key) for key in body["keys"]]
        except (ValueError, KeyError, TypeError, BadName):
            return _problem(HTTPStatus.BAD_REQUEST, 'expected {"tenant": …, "keys": […]}')
        engine = request.app.state.engine_client
        await engine.collective_rpc("preread_purge", args=(tenant, keys))
        self._forgetting.begin(engine)
        return JSONResponse({})


def _problem(status: HTTPStatus, detail: str) -> Response:
    return JSONResponse({"detail": detail}, status_code=status)
