"""The web application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.concurrency import run_in_threadpool

from app.core.settings import Settings, get_settings
from app.web.access.access import Access
from app.web.access.guard import require_guards
from app.web.access.known_body import KnownBody
from app.web.access.oidc.door import OidcDoor
from app.web.access_log import AccessLog
from app.web.answering import Answering
from app.web.body_limit import BodyLimit
from app.web.leaving import ClientLeft, to_nobody
from app.web.live.answers import LiveAnswers
from app.web.openapi import Api
from app.web.parts import part_checks
from app.web.problems import install_problems
from app.web.readiness import Probing
from app.web.request_id import RequestIds
from app.web.routes import (
    admin,
    ask,
    audit,
    conversations,
    documents,
    feedback,
    files,
    health,
    internal,
    jobs,
    keys,
    labels,
    metrics,
    oidc,
    openai,
    session,
    status,
    syncs,
    users,
)
from app.web.routes.pages import PageHeaders, add_pages
from app.web.services import open_services
from app.web.tracing import Tracing, open_traces


def create_app(settings: Settings | None = None) -> FastAPI:
    """The application; its services open when it starts and close when it stops."""
    settings = settings or get_settings()
    traces = open_traces(settings)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        services = await run_in_threadpool(open_services, settings)
        app.state.services = services
        app.state.access = Access(services)
        app.state.oidc_door = OidcDoor(settings, services.catalog)
        live = LiveAnswers(settings)
        app.state.answering = Answering(services, live)
        app.state.probing = Probing(part_checks(services), stopping=lambda: services.admission.stopping)
        try:
            yield
        finally:
            app.state.probing.close()
            await live.close()
            await app.state.answering.close()
            await app.state.access.close()
            app.state.oidc_door.close()
            await services.close()
            if traces is not None:
                await run_in_threadpool(traces.close)

    app = Api(
        title="Preread",
        version=version("preread"),
        summary="Answers questions over documents that it has already read.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    install_problems(app)
    app.add_exception_handler(ClientLeft, to_nobody)
    app.add_middleware(KnownBody)
    app.add_middleware(BodyLimit, settings=settings)
    app.add_middleware(PageHeaders)
    if traces is not None:
        app.add_middleware(Tracing, traces=traces)
    app.add_middleware(AccessLog)
    app.add_middleware(RequestIds)  # the last is the outermost
    for module in (ask, conversations, feedback, openai, documents, files, labels, syncs, health, status):
        app.include_router(module.router)
    for module in (admin, jobs, metrics, session, oidc, keys, users, audit, internal):
        app.include_router(module.router)
    require_guards(app)
    add_pages(app)
    return app
