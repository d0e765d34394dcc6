from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import RedirectResponse
from starlette.requests import Request

from app.web.access.audit import Audit
from app.web.access.guard import PUBLIC
from app.web.access.oidc.door import Return
from app.web.deps import OidcDoorDep, ServicesDep, SigningInDep

router = APIRouter(prefix="/auth/oidc", tags=["signing in"])

_FAILURES = "where it failed, `sign_in` in the address says why (docs/oidc.md)"


@router.get(
    "/start",
    operation_id="start_oidc",
    dependencies=[PUBLIC],
    summary="Sign in through the provider: goes there",
    status_code=302,
    response_class=RedirectResponse,
    responses={302: {"description": f"To the provider; or back to the pages: {_FAILURES}."}},
)
def start_oidc(
    door: OidcDoorDep,
    following: Annotated[str, Query(alias="next", description="Path of the page to show afterwards.")] = "/",
) -> RedirectResponse:
    """For browsers: a link to it, not a request from a script."""
    return door.leave(following)


@router.get(
    "/callback",
    operation_id="finish_oidc",
    dependencies=[PUBLIC],
    summary="Where the provider sends the browser back to",
    status_code=302,
    response_class=RedirectResponse,
    responses={302: {"description": f"To the page asked for, with the session's cookie; {_FAILURES}."}},
)
def finish_oidc(
    request: Request,
    services: ServicesDep,
    door: OidcDoorDep,
    signing_in: SigningInDep,
    code: Annotated[str, Query(description="From the provider, good once.")] = "",
    state: Annotated[str, Query(description="As the sign-in was begun with.")] = "",
    error: Annotated[str, Query(description="From the provider, in place of a code.")] = "",
) -> RedirectResponse:
    sealed = request.cookies.get(door.cookie, "")
    stranger = Audit.of_stranger(services.catalog, services.settings.tenant, "", request)
    return door.enter(Return(code, state, error, sealed), signing_in, stranger)
