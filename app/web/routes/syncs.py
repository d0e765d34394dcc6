from typing import Annotated

from fastapi import APIRouter
from fastapi import Path as PathParam

from app.web.access.guard import READ, WRITE
from app.web.deps import SyncsDep
from app.web.openapi import problems
from app.web.schemas.syncs import SyncIn, SyncListOut, SyncOut
from app.web.syncs import SyncFolderNotFound, SyncNotFound

router = APIRouter(prefix="/sync", tags=["sync"])

SyncId = Annotated[str, PathParam(max_length=100, description="The sync.")]


@router.post(
    "",
    operation_id="start_sync",
    dependencies=[WRITE],
    summary="Have folders kept in step now",
    status_code=202,
    responses=problems(SyncFolderNotFound),
)
def start_sync(wanted: SyncIn, syncs: SyncsDep) -> SyncListOut:
    return syncs.start(wanted)


@router.get(
    "", operation_id="list_syncs", dependencies=[READ], summary="Syncs of folders and their reports, newest first"
)
def list_syncs(syncs: SyncsDep) -> SyncListOut:
    return syncs.page()


@router.get(
    "/{sync_id}",
    operation_id="get_sync",
    dependencies=[READ],
    summary="Show one sync",
    responses=problems(SyncNotFound),
)
def get_sync(sync_id: SyncId, syncs: SyncsDep) -> SyncOut:
    return syncs.get(sync_id)
