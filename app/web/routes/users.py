from typing import Annotated

from fastapi import APIRouter
from fastapi import Path as PathParam

from app.web.access.guard import ADMIN
from app.web.deps import UserAdminDep
from app.web.schemas.problem import Problem
from app.web.schemas.users import PasswordIn, UserChange, UserIn, UserList, UserOut, UserWithPassword

router = APIRouter(
    prefix="/admin/users",
    tags=["admin"],
    responses={403: {"model": Problem, "description": "forbidden: nobody gives more than they have."}},
)

Name = Annotated[str, PathParam(max_length=100, description="The user's name.")]


@router.get("", operation_id="list_users", dependencies=[ADMIN], summary="List users, by name")
def list_users(users: UserAdminDep) -> UserList:
    return users.list()


@router.post(
    "",
    operation_id="create_user",
    dependencies=[ADMIN],
    summary="Add a user; a password that is made is told this once",
    status_code=201,
    responses={409: {"model": Problem, "description": "user_exists: the name is taken."}},
)
def create_user(wanted: UserIn, users: UserAdminDep) -> UserWithPassword:
    return users.create(wanted)


@router.patch(
    "/{name}",
    operation_id="change_user",
    dependencies=[ADMIN],
    summary="Give a user another role, or disable one; ends their sessions",
    responses={
        404: {"model": Problem, "description": "user_not_found"},
        409: {"model": Problem, "description": "last_admin: nobody could administer the tenant then."},
    },
)
def change_user(name: Name, wanted: UserChange, users: UserAdminDep) -> UserOut:
    return users.change(name, wanted)


@router.post(
    "/{name}/password",
    operation_id="set_password",
    dependencies=[ADMIN],
    summary="Set a user's password; ends their sessions",
    responses={404: {"model": Problem, "description": "user_not_found"}},
)
def set_password(name: Name, users: UserAdminDep, wanted: PasswordIn | None = None) -> UserWithPassword:
    return users.set_password(name, wanted.password if wanted is not None else None)
