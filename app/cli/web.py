"""`preread web`: the API and the pages, in this process."""

from app.core.settings import get_settings

_GRACE_SECONDS = 10


def web() -> None:
    """Run the API and the pages."""
    import uvicorn

    settings = get_settings()
    uvicorn.run(
        "app.web.main:create_app",
        factory=True,
        host=settings.host,
        port=settings.port,
        timeout_graceful_shutdown=_GRACE_SECONDS,
    )
