"""Several users of one running application, told apart by a header that only tests have."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import httpx
from starlette.requests import HTTPConnection
from web_harness import Web

from app.core.access import Principal, Role
from app.web.deps import get_principal

AS = "X-Test-As"


@contextmanager
def several_users(*webs: Web) -> Iterator[None]:
    """Whoever sends no header is the admin `operator`."""
    for web in webs:
        web.server.config.app.dependency_overrides[get_principal] = _named_by_header
    yield
    for web in webs:
        del web.server.config.app.dependency_overrides[get_principal]


def signed_in(web: Web, name: str, role: Role = Role.READER, tenant: str = "default") -> Web:
    """The same application as somebody else sees it."""
    headers = {AS: f"{name} {role} {tenant}"}
    return replace(web, client=httpx.Client(base_url=web.client.base_url, timeout=30, headers=headers))


def _named_by_header(connection: HTTPConnection) -> Principal:
    name, role, tenant = connection.headers.get(AS, "operator admin default").split()
    return Principal(name, name, tenant, Role(role), Role(role).permissions)
