"""A tenant's API keys as its admins handle them. Blocking: routes call it in a thread."""

from datetime import timedelta

from app.core.access import Principal, permissions_of
from app.core.catalog import ApiKey, KeyNotFound, NewKey
from app.web.access.access import Access
from app.web.access.audit import Audit
from app.web.access.giving import require_no_more
from app.web.access.key_making import KeyMaking, scopes_of
from app.web.access.names import key_name
from app.web.schemas.keys import KeyIn, KeyList, KeyOut, KeyWithSecret
from app.web.services import Services


class KeyAdmin:
    def __init__(self, services: Services, principal: Principal, audit: Audit, access: Access) -> None:
        self._catalog = services.catalog
        self._principal = principal
        self._making = KeyMaking(services.catalog, audit)
        self._gatekeeper = access.gatekeeper

    def list(self) -> KeyList:
        return KeyList(items=[_key_out(key) for key in self._catalog.keys(self._principal.tenant)])

    def create(self, wanted: KeyIn) -> KeyWithSecret:
        """Raises Forbidden for more than the admin has; BadName, BadScopes."""
        scopes = scopes_of(wanted.role, wanted.scopes)
        require_no_more(self._principal, permissions_of(wanted.role, scopes))
        key, secret = self._making.make(
            NewKey(
                tenant=self._principal.tenant,
                name=key_name(wanted.name),
                role=wanted.role,
                scopes=scopes,
                expires_at=wanted.expires_at,
                requests_per_minute=wanted.requests_per_minute,
                concurrent_requests=wanted.concurrent_requests,
            )
        )
        return KeyWithSecret(key=_key_out(key), secret=secret)

    def rotate(self, key_id: str, overlap_minutes: int) -> KeyWithSecret:
        """Whoever rotates a key holds it then. Raises Forbidden for one that may do more; KeyNotFound."""
        known = self._catalog.find_key(key_id)
        if known is None or known.tenant != self._principal.tenant:
            raise KeyNotFound(f"There is no key {key_id}.", "List the keys to see their ids.")
        require_no_more(self._principal, permissions_of(known.role, known.scopes))
        key, secret = self._making.rotate(self._principal.tenant, key_id, timedelta(minutes=overlap_minutes))
        self._gatekeeper.forget()
        return KeyWithSecret(key=_key_out(key), secret=secret)

    def revoke(self, key_id: str) -> None:
        """Other web processes know within three seconds. Raises KeyNotFound."""
        self._making.revoke(self._principal.tenant, key_id)
        self._gatekeeper.forget()


def _key_out(key: ApiKey) -> KeyOut:
    return KeyOut(
        id=key.id,
        name=key.name,
        role=key.role,
        scopes=list(key.scopes),
        created_at=key.created_at,
        expires_at=key.expires_at,
        revoked_at=key.revoked_at,
        last_used_at=key.last_used_at,
        requests_per_minute=key.requests_per_minute,
        concurrent_requests=key.concurrent_requests,
    )
