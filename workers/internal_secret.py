"""The secret that web and workers share, for the index that another process owns."""

from urllib.parse import urlsplit

from app.core.errors import SetupError
from app.core.loopback import is_loopback
from app.core.settings import Settings


class NoInternalSecret(SetupError):
    code = "no_internal_secret"


def internal_secret(settings: Settings) -> str:
    """Raises NoInternalSecret where the web that owns the index is on another host and no secret is set."""
    secret = settings.internal_secret.get_secret_value()
    if not secret and not is_loopback(urlsplit(settings.effective_index_url).hostname or ""):
        raise NoInternalSecret(
            f"The index is reached at {settings.effective_index_url}, which takes a secret.",
            "Set PREREAD_INTERNAL_SECRET, the same for web and workers: openssl rand -hex 32",
        )
    return secret
