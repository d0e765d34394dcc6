"""What routes ask for."""

import asyncio
import hmac
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Annotated

from fastapi import Depends, Header, Query, Request
from fastapi import Path as PathParam
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection

from app.core.access import Principal
from app.core.catalog import DatabaseUnavailable, DocumentFilter, DocumentState
from app.web.access.access import Access
from app.web.access.audit import Audit
from app.web.access.errors import TurnedAway
from app.web.access.key_admin import KeyAdmin
from app.web.access.oidc.door import OidcDoor
from app.web.access.signing_in import SigningIn
from app.web.access.user_admin import UserAdmin
from app.web.answering import Answering
from app.web.conversations import Conversations
from app.web.feedback import FeedbackDesk
from app.web.idempotency import Idempotency
from app.web.jobs import Jobs
from app.web.leaving import while_wanted
from app.web.library import Library
from app.web.ongoing import Ongoing
from app.web.readiness import Probing
from app.web.services import Services
from app.web.syncs import Syncs
from app.web.system import System
from app.web.url_list import UrlList
from retrieval.index_wire import SECRET_HEADER

_KNOWN_SECONDS = 2.0


async def get_services(connection: HTTPConnection) -> Services:
    services: Services = connection.app.state.services
    return services


ServicesDep = Annotated[Services, Depends(get_services)]


async def get_access(connection: HTTPConnection) -> Access:
    access: Access = connection.app.state.access
    return access


AccessDep = Annotated[Access, Depends(get_access)]


async def get_principal(connection: HTTPConnection, access: AccessDep) -> AsyncIterator[Principal]:
    """Whoever sends the request, within their limits until the answer has ended.

    Raises Unauthenticated, KeyExpired, KeyRevoked, CsrfRefused, RateLimited, TooManyAtOnce.
    """
    principal = await access.gatekeeper.principal(connection)
    async with access.limits.held(principal):
        yield principal


async def get_known(connection: HTTPConnection, access: AccessDep) -> Principal | None:
    """Whoever sends a request that strangers may send too; it counts towards no limit.

    Where the database does not say, or not soon, it is a stranger.
    """
    asking = asyncio.create_task(access.gatekeeper.principal(connection))
    await asyncio.wait((asking,), timeout=_KNOWN_SECONDS)
    if not asking.done():
        asking.add_done_callback(_heed)
        return None
    try:
        return asking.result()
    except (TurnedAway, DatabaseUnavailable):
        return None


def _heed(asking: asyncio.Task[Principal]) -> None:
    """Nobody waits for it any more, and what it raises is no news."""
    if not asking.cancelled():
        asking.exception()


PrincipalDep = Annotated[Principal, Depends(get_principal)]
KnownDep = Annotated[Principal | None, Depends(get_known)]


async def get_audit(services: ServicesDep, principal: PrincipalDep, connection: HTTPConnection) -> Audit:
    return Audit.of(services.catalog, principal, connection)


AuditDep = Annotated[Audit, Depends(get_audit)]


async def get_answering(connection: HTTPConnection) -> Answering:
    answering: Answering = connection.app.state.answering
    return answering


async def get_probing(connection: HTTPConnection) -> Probing:
    probing: Probing = connection.app.state.probing
    return probing


async def get_place(request: Request, services: ServicesDep, principal: PrincipalDep) -> AsyncIterator[None]:
    """Wait for a place for an answer, and keep it until both the answer and the response have ended.

    Raises Overloaded, ServiceStopping, ClientLeft.
    """
    async with AsyncExitStack() as held:
        place = services.admission.place(f"{principal.tenant}/{principal.id}")
        await while_wanted(request, services.stopping, held.enter_async_context(place))
        try:
            yield
        finally:
            # A resumable answer goes on without its client, and keeps its place.
            if (answer := getattr(request.state, "answer", None)) is not None:
                await answer.made()


async def get_ongoing(connection: HTTPConnection, services: ServicesDep, principal: PrincipalDep) -> Ongoing:
    answering: Answering = connection.app.state.answering
    return Ongoing(services, answering.live, principal)


async def get_conversations(services: ServicesDep, principal: PrincipalDep) -> Conversations:
    return Conversations(services, principal)


async def get_feedback(services: ServicesDep, principal: PrincipalDep) -> FeedbackDesk:
    return FeedbackDesk(services, principal)


async def get_library(services: ServicesDep, audit: AuditDep) -> Library:
    return Library(services, audit.tenant, audit)


async def get_url_list(services: ServicesDep, audit: AuditDep) -> UrlList:
    return UrlList(services, audit.tenant, audit)


async def get_syncs(services: ServicesDep, audit: AuditDep) -> Syncs:
    return Syncs(services, audit.tenant, audit)


async def get_idempotency(
    services: ServicesDep,
    principal: PrincipalDep,
    key: Annotated[
        str | None,
        Header(
            alias="Idempotency-Key",
            min_length=1,
            max_length=255,
            pattern=r"^[\x21-\x7e]+$",
            description="Of the client's choice, such as a UUID: sent again with it, the request is done once.",
        ),
    ] = None,
) -> Idempotency:
    return Idempotency(services, principal.tenant, key)


async def get_system(services: ServicesDep, principal: PrincipalDep) -> System:
    return System(services, principal.tenant)


async def get_jobs(services: ServicesDep, principal: PrincipalDep, audit: AuditDep) -> Jobs:
    return Jobs(services, principal.tenant, audit, in_full=principal.runs(services.settings.tenant))


async def get_signing_in(services: ServicesDep, access: AccessDep) -> SigningIn:
    return SigningIn(services, access)


async def get_oidc_door(connection: HTTPConnection) -> OidcDoor:
    door: OidcDoor = connection.app.state.oidc_door
    return door


async def get_key_admin(services: ServicesDep, principal: PrincipalDep, audit: AuditDep, access: AccessDep) -> KeyAdmin:
    return KeyAdmin(services, principal, audit, access)


async def get_user_admin(
    services: ServicesDep, principal: PrincipalDep, audit: AuditDep, access: AccessDep
) -> UserAdmin:
    return UserAdmin(services, principal, audit, access)


async def get_document_filter(
    q: Annotated[str, Query(max_length=200, description="Part of the name or title.")] = "",
    state: Annotated[DocumentState | None, Query(description="Only documents in this state.")] = None,
    collection: Annotated[str | None, Query(max_length=200, description="Only documents in this collection.")] = None,
    tag: Annotated[str | None, Query(max_length=200, description="Only documents with this tag.")] = None,
) -> DocumentFilter:
    return DocumentFilter(q, state, collection, tag)


async def require_internal_secret(
    services: ServicesDep, sent: Annotated[str, Header(alias=SECRET_HEADER, include_in_schema=False)] = ""
) -> None:
    """Internal routes do not exist for anyone without the secret, nor where none is set."""
    secret = services.settings.internal_secret.get_secret_value()
    if not secret or not hmac.compare_digest(secret.encode(), sent.encode()):
        raise HTTPException(404)


AnsweringDep = Annotated[Answering, Depends(get_answering)]
IdempotencyDep = Annotated[Idempotency, Depends(get_idempotency)]
PLACE = Depends(get_place)
ProbingDep = Annotated[Probing, Depends(get_probing)]
ConversationsDep = Annotated[Conversations, Depends(get_conversations)]
FeedbackDep = Annotated[FeedbackDesk, Depends(get_feedback)]
JobsDep = Annotated[Jobs, Depends(get_jobs)]
KeyAdminDep = Annotated[KeyAdmin, Depends(get_key_admin)]
LibraryDep = Annotated[Library, Depends(get_library)]
OngoingDep = Annotated[Ongoing, Depends(get_ongoing)]
OidcDoorDep = Annotated[OidcDoor, Depends(get_oidc_door)]
SigningInDep = Annotated[SigningIn, Depends(get_signing_in)]
SyncsDep = Annotated[Syncs, Depends(get_syncs)]
SystemDep = Annotated[System, Depends(get_system)]
UrlListDep = Annotated[UrlList, Depends(get_url_list)]
UserAdminDep = Annotated[UserAdmin, Depends(get_user_admin)]
DocumentId = Annotated[str, PathParam(max_length=100, description="The document.")]
Limit = Annotated[int, Query(ge=1, le=500, description="Most entries in one page.")]
Offset = Annotated[int, Query(ge=0, le=2**31, description="Entries to skip.")]
DocumentFilterDep = Annotated[DocumentFilter, Depends(get_document_filter)]
After = Annotated[
    str | None, Query(max_length=200, description="What the page before named as `following`; `offset` counts from it.")
]
