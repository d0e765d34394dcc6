from fastapi import APIRouter, Response
from starlette.requests import Request

from app.web.access.audit import Audit
from app.web.access.cookie import clear_session_cookie, require_own_origin, set_session_cookie
from app.web.access.gatekeeper import session_token_of
from app.web.access.guard import PUBLIC, SIGNED_IN
from app.web.access.signing_in import principal_of
from app.web.deps import AuditDep, PrincipalDep, ServicesDep, SigningInDep
from app.web.schemas.problem import Problem
from app.web.schemas.session import MethodsOut, SessionOut, SignIn

router = APIRouter(prefix="/auth", tags=["signing in"])

_UNKNOWN = {"model": Problem, "description": "unauthenticated: nobody is signed in."}


@router.get("/methods", operation_id="sign_in_methods", dependencies=[PUBLIC], summary="How users sign in here")
async def sign_in_methods(signing_in: SigningInDep) -> MethodsOut:
    return signing_in.methods()


@router.post(
    "/session",
    operation_id="sign_in",
    dependencies=[PUBLIC],
    summary="Sign in by name and password; the answer sets the session's cookie",
    responses={
        401: {"model": Problem, "description": "sign_in_failed: the name or the password is wrong."},
        403: {"model": Problem, "description": "csrf: another site's page sent this."},
        429: {"model": Problem, "description": "too_many_attempts: wait as Retry-After says."},
    },
)
async def sign_in(
    wanted: SignIn, request: Request, response: Response, services: ServicesDep, signing_in: SigningInDep
) -> SessionOut:
    require_own_origin(request, services.settings)
    stranger = Audit.of_stranger(services.catalog, services.settings.tenant, wanted.name, request)
    token, user = await signing_in.by_password(wanted.name, wanted.password.get_secret_value(), stranger)
    set_session_cookie(response, token, services.settings)
    return signing_in.shown(principal_of(user), token)


@router.get(
    "/session",
    operation_id="get_session",
    dependencies=[SIGNED_IN],
    summary="Who is signed in, and what they may do",
    responses={401: _UNKNOWN},
)
async def get_session(request: Request, principal: PrincipalDep, signing_in: SigningInDep) -> SessionOut:
    return signing_in.shown(principal, session_token_of(request))


@router.delete(
    "/session",
    operation_id="sign_out",
    dependencies=[SIGNED_IN],
    summary="Sign out",
    status_code=204,
    responses={401: _UNKNOWN},
)
def sign_out(
    request: Request, response: Response, services: ServicesDep, signing_in: SigningInDep, audit: AuditDep
) -> None:
    signing_in.close(session_token_of(request), audit)
    clear_session_cookie(response, services.settings)
