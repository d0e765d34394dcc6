"""Tenants of a benchmark's engine: what keeps its requests and readings apart."""

from app.core.ids import new_id
from generator.conditioning import Conditioning


def tenant_of(conditioning: Conditioning) -> str:
    """Readings behind different passages share a key; each passage has a tenant of its own."""
    return f"bench-{conditioning}"


def own_tenant() -> str:
    """A new one salts an exact request uniquely: nothing is found in vLLM's prefix cache."""
    return new_id("bench").replace("_", "-")
