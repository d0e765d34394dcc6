"""What the web process knows of whoever calls it."""

from app.web.access.gatekeeper import Gatekeeper
from app.web.access.limits import Limits
from app.web.services import Services


class Access:
    """Opened and closed with the application."""

    def __init__(self, services: Services) -> None:
        self.gatekeeper = Gatekeeper(services.catalog, services.settings)
        self.limits = Limits(services.settings)

    async def close(self) -> None:
        await self.gatekeeper.close()
        await self.limits.close()
