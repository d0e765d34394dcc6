"""Not being reachable by others while nobody is known who could sign in."""

from app.core.catalog import Catalog
from app.core.errors import SetupError
from app.core.loopback import is_loopback
from app.core.settings import Settings


class NobodyKnown(SetupError):
    code = "nobody_known"


def require_somebody(settings: Settings) -> None:
    """Brings the database up to date. Raises NobodyKnown where web would listen on more than loopback."""
    if is_loopback(settings.host):
        return
    catalog = Catalog(settings.effective_database_url)
    try:
        catalog.migrate()
        if not catalog.knows_anybody():
            raise NobodyKnown(
                f"Web does not listen on {settings.host} while there is neither a user nor an API key.",
                "Make one, then start it again: preread user create NAME --role admin",
            )
    finally:
        catalog.close()
