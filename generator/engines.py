"""All engines that may hold chunk KV in their memory: what is deleted must be forgotten by every one."""

from collections.abc import Sequence

from app.core.errors import PrereadError
from app.core.settings import Settings
from generator.engine import EngineClient, EngineStatus
from generator.errors import EngineFailed, EnginesDiffer, EngineUnavailable


class Engines:
    """The clients belong to the caller. Safe to share between threads."""

    def __init__(self, clients: Sequence[EngineClient]) -> None:
        self._clients = tuple(clients)

    @classmethod
    def from_settings(cls, settings: Settings) -> "Engines":
        return cls([EngineClient(url) for url in settings.every_engine_url])

    def close(self) -> None:
        for client in self._clients:
            client.close()

    def purge(self, tenant: str, keys: list[str]) -> None:
        """Drop chunk KV from the memory of all. Raises EngineUnavailable where one has not, after asking the others."""
        problems: list[PrereadError] = []
        for client in self._clients:
            try:
                client.purge(tenant, keys)
            except (EngineUnavailable, EngineFailed) as error:
                problems.append(error)
        if problems:
            raise EngineUnavailable(
                " ".join(problem.message for problem in problems),
                "Start it, or take its address out of PREREAD_ENGINE_URLS if there is no such engine any more.",
            )


def require_same_model(reading: EngineStatus, answering: EngineStatus) -> None:
    """Raises EnginesDiffer where chunk KV of the one engine is of no use to the other."""
    if reading.fingerprint != answering.fingerprint:
        raise EnginesDiffer(
            f"The worker's engine runs {reading.model} in {reading.dtype}, the one that answers questions "
            f"{answering.model} in {answering.dtype}; what one pre-reads the other cannot use.",
            "Give both the same PREREAD_MODEL and PREREAD_DTYPE, and the same files of the model.",
        )
