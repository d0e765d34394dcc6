"""The connection to a bucket, set up so that a dead store costs one time-out."""

import os
from collections.abc import Mapping
from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any

from obstore.store import from_url

from kvstore.errors import TierDown
from kvstore.tiers.object_errors import OBJECT_ERRORS, reason

if TYPE_CHECKING:
    from obstore.store import ObjectStore

_SCHEMES = ("s3://", "gs://", "az://")
_ALLOW_HTTP = ("aws_allow_http", "azure_allow_http", "google_allow_http")
_YES = ("1", "true", "on", "yes", "y")


def object_client(url: str, timeout_seconds: float, options: Mapping[str, str]) -> "ObjectStore":
    """A client of the bucket and prefix at `url`. Nothing is asked yet.

    Args:
        timeout_seconds: for one request, its retry included.
        options: in place of environment variables, spelled like them in lower case.
    Raises: TierDown when `url` or `options` cannot be used.
    """
    if not url.startswith(_SCHEMES):
        raise TierDown(
            f"{url!r} is not the address of a bucket.", "Set PREREAD_KV_OBJECT_URL to s3://, gs:// or az://…"
        )
    config: Any = {name: value for name, value in options.items() if name not in _ALLOW_HTTP}
    # With client options of ours, the library does not look for its own in the environment.
    spelled = {name.lower(): value.lower() for name, value in chain(os.environ.items(), options.items())}
    patience = timedelta(seconds=timeout_seconds)
    try:
        return from_url(
            url,
            config=config,
            client_options={
                "allow_http": any(spelled.get(name) in _YES for name in _ALLOW_HTTP),
                "connect_timeout": patience * 0.8,
                "timeout": patience * 0.8,
            },
            # Only what fails early is tried again, so that both tries end in time.
            retry_config={"max_retries": 1, "retry_timeout": patience * 0.1},
        )
    except (*OBJECT_ERRORS, ValueError) as error:
        raise TierDown(
            f"The object store cannot be used: {reason(error)}", "Check PREREAD_KV_OBJECT_URL and the credentials."
        ) from error


__all__ = ["object_client"]
