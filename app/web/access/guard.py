"""What each route asks of whoever calls it. A route that says nothing keeps the application from starting."""

from dataclasses import dataclass

from fastapi import Depends, FastAPI
from fastapi.routing import APIRoute

from app.core.access import Permission
from app.core.errors import SetupError
from app.web.access.errors import Forbidden
from app.web.deps import PrincipalDep, require_internal_secret


class UnguardedRoute(SetupError):
    code = "unguarded_route"


@dataclass(frozen=True)
class Needs:
    permission: Permission

    async def __call__(self, principal: PrincipalDep) -> None:
        """Raises Forbidden."""
        if self.permission not in principal.permissions:
            raise Forbidden(
                f"{principal.name} may not do this: it takes the permission “{self.permission}”.",
                "Ask an admin for another role, or for a key with this scope.",
            )


async def anyone() -> None:
    """A route for those who are not signed in too."""


async def signed_in(_: PrincipalDep) -> None:
    """A route for whoever is known, whatever they may do."""


ASK = Depends(Needs(Permission.ASK))
READ = Depends(Needs(Permission.READ_DOCUMENTS))
WRITE = Depends(Needs(Permission.WRITE_DOCUMENTS))
METRICS = Depends(Needs(Permission.METRICS))
ADMIN = Depends(Needs(Permission.ADMIN))
SIGNED_IN = Depends(signed_in)
PUBLIC = Depends(anyone)
GUARDS = (anyone, signed_in, require_internal_secret)


def guards_of(route: APIRoute) -> list[object]:
    """`Needs`, `anyone` or another of `GUARDS` that stand in the route's dependencies."""
    calls = [dependant.call for dependant in route.dependant.dependencies]
    return [call for call in calls if isinstance(call, Needs) or call in GUARDS]


def require_guards(app: FastAPI) -> None:
    """Raises UnguardedRoute for a route without exactly one guard."""
    for route in app.routes:
        if isinstance(route, APIRoute) and len(guards_of(route)) != 1:
            raise UnguardedRoute(
                f"{route.path} does not say who may call it.", "Give it one of app/web/access/guard.py."
            )
