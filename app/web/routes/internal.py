"""The index for workers, where web owns the local Qdrant folder."""

from typing import Any

from fastapi import APIRouter, Depends
from fastapi.concurrency import run_in_threadpool
from starlette.requests import Request

from app.web.deps import ServicesDep, require_internal_secret
from retrieval.index_wire import PATH, answer

router = APIRouter(include_in_schema=False, dependencies=[Depends(require_internal_secret)])


@router.post(PATH + "{operation}")
async def index_call(operation: str, request: Request, services: ServicesDep) -> dict[str, Any]:
    return await run_in_threadpool(answer, services.index, operation, await request.body())
