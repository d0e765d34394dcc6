"""The parts that questions need, or are answered sooner with, and how each is asked whether it answers. Blocking."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from sqlalchemy.exc import SQLAlchemyError

from app.core.codes import Code
from app.core.errors import PrereadError, Unavailable
from app.web.schemas.system import Part
from app.web.services import Services
from kvstore.tiers.probes import PART_NAMES, Probe


class WorkerAway(Unavailable):
    code = Code.WORKER_AWAY


@dataclass(frozen=True)
class PartCheck:
    """`check` returns what was found, or raises what is wrong."""

    name: str
    check: Callable[[], str]
    required: bool = True

    def judge(self) -> Part:
        try:
            ok, message, hint = True, self.check(), ""
        except PrereadError as error:
            ok, message, hint = False, error.message, error.hint
        except SQLAlchemyError as error:
            ok, message, hint = False, f"The database does not answer: {error}", "See its log."
        return Part(name=self.name, ok=ok, required=self.required, message=message, hint=hint)

    def silent(self, seconds: float) -> Part:
        """What is said of it when it has neither answered nor refused in this time."""
        message, hint = f"It does not answer within {seconds:g} s.", "See its log; it may hang, or have too much to do."
        return Part(name=self.name, ok=False, required=self.required, message=message, hint=hint)


def part_checks(services: Services) -> list[PartCheck]:
    """All of this process's; what is counted is of its own tenant."""
    return [
        PartCheck("database", partial(_check_database, services)),
        PartCheck("queue", partial(_check_queue, services)),
        PartCheck("engine", partial(_check_engine, services)),
        PartCheck("index", partial(_check_index, services)),
        PartCheck("worker", partial(_check_worker, services)),
        *(
            PartCheck(PART_NAMES[tier], partial(_check_tier, probe), required=False)
            for tier, probe in services.kv_probes.items()
        ),
    ]


def _check_database(services: Services) -> str:
    return f"{sum(services.catalog.state_counts(services.settings.tenant).values())} documents"


def _check_queue(services: Services) -> str:
    services.waker.check()
    return "answers"


def _check_engine(services: Services) -> str:
    status = services.engine.status()
    return f"serves {status.model}" + ("" if status.fusion else f"; does not fuse: {status.fusion_reason}")


def _check_index(services: Services) -> str:
    index, reindexing = services.index, services.reindexing
    index.check(services.embedder.dimension)
    held = f"{index.count(services.settings.tenant):,} chunks"
    progress = reindexing.progress() if reindexing else ""
    return f"{held}, of which {progress}" if progress else held


def _check_worker(services: Services) -> str:
    if not services.waker.workers():
        raise WorkerAway("No worker answers.", "Start `preread worker`, or see its log.")
    return "answers"


def _check_tier(probe: Probe) -> str:
    probe()
    return "answers"
