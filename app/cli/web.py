"""`preread web`: the API and the pages, in this process."""

from app.core.settings import get_settings


def web() -> None:
    """Run the API and the pages."""
    from app.web.server import serve

    serve(get_settings())
