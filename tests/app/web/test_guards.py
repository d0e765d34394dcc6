"""Every route says who may call it."""

import pytest
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from app.core.access import Permission, Principal, Role
from app.core.settings import Settings
from app.web.access.guard import ADMIN, PUBLIC, READ, UnguardedRoute, anyone, guards_of, require_guards
from app.web.deps import get_principal
from app.web.main import create_app
from app.web.problems import install_problems

PUBLIC_OPERATIONS = {"health", "readiness", "sign_in", "sign_in_methods", "start_oidc", "finish_oidc"}


def nothing() -> None:
    """What a route does."""


@pytest.fixture(scope="module")
def routes(tmp_path_factory):
    app = create_app(Settings(state_dir=tmp_path_factory.mktemp("guards")))
    return [route for route in app.routes if isinstance(route, APIRoute)]


def test_every_route_has_one_guard(routes):
    assert len(routes) > 20
    assert [route.path for route in routes if len(guards_of(route)) != 1] == []


def test_nothing_is_public_that_is_not_meant_to_be(routes):
    assert {route.operation_id for route in routes if guards_of(route) == [anyone]} == PUBLIC_OPERATIONS


@pytest.mark.parametrize("guards", [[], [READ, PUBLIC]])
def test_an_application_with_an_unguarded_route_does_not_start(guards):
    router = APIRouter()
    router.get("/open", dependencies=guards)(nothing)
    app = FastAPI()
    app.include_router(router)
    with pytest.raises(UnguardedRoute, match="/open"):
        require_guards(app)


@pytest.mark.parametrize(("role", "status"), [(Role.READER, 403), (Role.EDITOR, 403), (Role.ADMIN, 200)])
def test_a_role_without_the_permission_is_refused(role, status):
    app = FastAPI()
    install_problems(app)
    app.get("/inside", dependencies=[ADMIN])(nothing)
    app.dependency_overrides[get_principal] = lambda: Principal("key_1", "a key", "default", role, role.permissions)
    answer = TestClient(app).get("/inside")
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["code"] == "forbidden"
        assert "admin" in answer.json()["detail"]


def test_each_role_may_do_what_the_lesser_may():
    reader, editor, admin = (role.permissions for role in (Role.READER, Role.EDITOR, Role.ADMIN))
    assert reader < editor < admin == set(Permission)
