"""The index for workers and for other webs, where this one owns the local Qdrant folder."""

from typing import Any

from fastapi import APIRouter, Depends
from fastapi.concurrency import run_in_threadpool
from starlette.requests import Request

from app.web.deps import ServicesDep, require_internal_secret
from retrieval.errors import IndexRefused
from retrieval.index_wire import PATH, answer
from retrieval.remote_index import RemoteIndex

router = APIRouter(include_in_schema=False, dependencies=[Depends(require_internal_secret)])


@router.post(PATH + "{operation}")
async def index_call(operation: str, request: Request, services: ServicesDep) -> dict[str, Any]:
    if isinstance(services.index, RemoteIndex):
        raise IndexRefused(
            "This web process does not own the index.", "Set PREREAD_INDEX_URL to the address of the one that does."
        )
    return await run_in_threadpool(answer, services.index, operation, await request.body())
