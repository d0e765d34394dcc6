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
from app.web.answering import Answering
from app.web.body_limit import BodyLimit
from app.web.problems import install_problems
from app.web.routes import (
    admin,
    ask,
    audit,
    documents,
    files,
    health,
    internal,
    jobs,
    keys,
    labels,
    metrics,
    oidc,
    session,
    status,
    syncs,
    users,
)
from app.web.routes.pages import PageHeaders, add_pages
from app.web.services import open_services


def create_app(settings: Settings | None = None) -> FastAPI:
    """The application; its services open when it starts and close when it stops."""
    settings = settings or get_settings()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        services = await run_in_threadpool(open_services, settings)
        app.state.services = services
        app.state.access = Access(services)
        app.state.oidc_door = OidcDoor(settings, services.catalog)
        app.state.answering = Answering(services)
        try:
            yield
        finally:
            await app.state.answering.close()
            await app.state.access.close()
            app.state.oidc_door.close()
            await services.close()

    app = FastAPI(
        title="Preread",
        version=version("preread"),
        summary="Answers questions over documents that it has already read.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    install_problems(app)
    app.add_middleware(KnownBody)
    app.add_middleware(BodyLimit, settings=settings)
    app.add_middleware(PageHeaders)
    asking = (ask, documents, files, labels, syncs, health, status)
    for module in (*asking, admin, jobs, metrics, session, oidc, keys, users, audit, internal):
        app.include_router(module.router)
    require_guards(app)
    add_pages(app)
    return app
