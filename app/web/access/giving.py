"""Nobody gives more than they have."""

from collections.abc import Set as AbstractSet

from app.core.access import Permission, Principal
from app.web.access.errors import Forbidden


def require_no_more(principal: Principal, given: AbstractSet[Permission]) -> None:
    """To give a key, or a user, these permissions. Raises Forbidden."""
    beyond = sorted(given - principal.permissions)
    if beyond:
        raise Forbidden(
            f"{principal.name} may not give what it does not have: {', '.join(beyond)}.",
            "Ask an admin whose own key or role has it.",
        )
