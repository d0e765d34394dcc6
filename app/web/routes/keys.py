from typing import Annotated, Any

from fastapi import APIRouter
from fastapi import Path as PathParam

from app.web.access.guard import ADMIN
from app.web.deps import KeyAdminDep
from app.web.schemas.keys import KeyIn, KeyList, KeyWithSecret, RotateIn
from app.web.schemas.problem import Problem

router = APIRouter(
    prefix="/admin/keys",
    tags=["admin"],
    responses={403: {"model": Problem, "description": "forbidden: nobody gives more than they have."}},
)

KeyId = Annotated[str, PathParam(max_length=100, description="The key.")]
_NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"model": Problem, "description": "key_not_found"}}


@router.get("", operation_id="list_keys", dependencies=[ADMIN], summary="List API keys, newest first")
def list_keys(keys: KeyAdminDep) -> KeyList:
    return keys.list()


@router.post(
    "",
    operation_id="create_key",
    dependencies=[ADMIN],
    summary="Make an API key; its secret is told this once",
    status_code=201,
)
def create_key(wanted: KeyIn, keys: KeyAdminDep) -> KeyWithSecret:
    return keys.create(wanted)


@router.post(
    "/{key_id}/rotate",
    operation_id="rotate_key",
    dependencies=[ADMIN],
    summary="Give an API key another secret, told this once",
    responses=_NOT_FOUND,
)
def rotate_key(key_id: KeyId, keys: KeyAdminDep, wanted: RotateIn | None = None) -> KeyWithSecret:
    return keys.rotate(key_id, wanted.overlap_minutes if wanted is not None else 0)


@router.delete(
    "/{key_id}",
    operation_id="revoke_key",
    dependencies=[ADMIN],
    summary="End an API key; it stays in the list",
    status_code=204,
    responses=_NOT_FOUND,
)
def revoke_key(key_id: KeyId, keys: KeyAdminDep) -> None:
    keys.revoke(key_id)
