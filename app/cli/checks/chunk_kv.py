"""Where chunk KV is stored beyond this machine, and whether it is sealed there."""

from app.cli.checks.finding import Finding, failed_by, ok
from app.core.errors import PrereadError
from app.core.settings import Settings
from kvstore.sealing import Seal
from kvstore.tiers.configured import TierOptions, object_tier

_TENANT, _KEY = "doctor", "0" * 63 + "1"


def check_kv_object(settings: Settings) -> Finding:
    """Writes and deletes a few bytes: credentials that may only read would show in nothing else."""
    name = "object store for chunk KV"
    if not settings.kv_object_url:
        return ok(name, "off")
    try:
        tier = object_tier(TierOptions.from_settings(settings))
        tier.put(_TENANT, _KEY, b"written by preread doctor")
        tier.delete(_TENANT, _KEY)
    except PrereadError as error:
        return failed_by(name, error)
    return ok(name, f"{settings.kv_object_url} can be written to")


def check_encryption(settings: Settings) -> Finding:
    name = "encryption of chunk KV"
    key = settings.kv_encryption_key.get_secret_value()
    if not key:
        return ok(name, "off")
    try:
        Seal.from_text(key)
    except PrereadError as error:
        return failed_by(name, error)
    return ok(name, "on")


__all__ = ["check_encryption", "check_kv_object"]
