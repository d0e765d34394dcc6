"""No worker where chunk KV is only read."""

from app.core.codes import Code
from app.core.errors import SetupError
from app.core.settings import Settings


class ReadOnlyWorker(SetupError):
    code = Code.READ_ONLY_WORKER


def require_writing(settings: Settings) -> None:
    """Raises: ReadOnlyWorker where chunk KV may only be read: a worker's work is to store and to delete it."""
    if settings.kv_read_only:
        raise ReadOnlyWorker(
            "A worker stores chunk KV, and PREREAD_KV_READ_ONLY forbids that.",
            "Unset it for workers and for `preread up`; set it for web and engines of replicas.",
        )


__all__ = ["ReadOnlyWorker", "require_writing"]
