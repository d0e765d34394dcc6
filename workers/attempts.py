"""A try of one stage of one document: counted, given up in time, tried again later, and at last no more."""

import logging
from collections.abc import Callable
from enum import StrEnum
from functools import partial

from app.core.catalog import WorkRefused
from app.core.codes import Code
from app.core.errors import PrereadError, SetupError, Unavailable
from generator.errors import EngineFailed, EngineUnavailable
from retrieval.errors import ParserKilled
from workers.backoff import pause_after
from workers.claim import claimed
from workers.context import WorkerContext
from workers.time_limit import OutOfTime

log = logging.getLogger(__name__)


class Outcome(StrEnum):
    """DONE: nothing is left of this stage, or it failed for good. MORE: another slice is. AGAIN: it did not end well
    and is tried later. WAITS: something else does not answer, and that is not counted. IDLE: there was nothing to try.
    """

    DONE = "done"
    MORE = "more"
    AGAIN = "again"
    WAITS = "waits"
    IDLE = "idle"


def attempt(
    task: str,
    document_id: str,
    context: WorkerContext,
    work: Callable[[], bool],
    *,
    needs: Callable[[], object] = lambda: None,
) -> Outcome:
    """Do `work`, which says whether there is more to do, unless it is not its time yet.

    `needs` raises Unavailable, SetupError or EngineFailed where what the work needs does not answer: it is asked first.
    An engine that answers it and goes away in the middle of the work is counted, since a document can do that to it.
    """
    catalog, settings = context.catalog, context.settings
    try:
        needs()
    except (Unavailable, SetupError, EngineFailed) as error:
        log.warning("%s waits: %s", document_id, error)
        return Outcome.WAITS
    pause = partial(pause_after, first_seconds=settings.retry_seconds)
    begun = catalog.begin_attempt(document_id, task, pause, settings.task_attempts)
    if begun is None:
        return Outcome.IDLE
    if begun.number > settings.task_attempts:
        return _give_up(document_id, context, begun.number - 1, begun.reason_code, begun.reason)
    try:
        more = work()
    except OutOfTime:
        code, reason = Code.TIME_LIMIT, f"It took longer than {settings.task_seconds} s."
    except (EngineUnavailable, ParserKilled) as error:
        code, reason = error.code, error.message
    except (Unavailable, SetupError) as error:
        log.warning("%s waits: %s", document_id, error)
        catalog.attempt_waits(document_id, error.code, error.message)
        return Outcome.WAITS
    except Exception as error:
        log.exception("%s of %s broke off", task, document_id)
        code = error.code if isinstance(error, PrereadError) else Code.UNEXPECTED_ERROR
        reason = f"{error!r}"
    else:
        catalog.end_attempt(document_id)
        return Outcome.MORE if more else Outcome.DONE
    log.warning("%s of %s, try %d of %d: %s", task, document_id, begun.number, settings.task_attempts, reason)
    if begun.number >= settings.task_attempts:
        return _give_up(document_id, context, begun.number, code, reason)
    catalog.attempt_failed(document_id, code, reason)
    return Outcome.AGAIN


def _give_up(document_id: str, context: WorkerContext, attempts: int, code: str, reason: str) -> Outcome:
    with claimed(context.catalog, document_id, context.settings.lease_seconds) as claim:
        if claim is None:
            return Outcome.IDLE
        try:
            context.catalog.fail(document_id, claim.owner, code, f"{reason} Given up after {attempts} tries.")
        except WorkRefused as refusal:
            log.info("%s is no longer worked on: %s", document_id, refusal)
            return Outcome.IDLE
    log.error("%s is given up after %d tries: %s", document_id, attempts, reason)
    return Outcome.DONE
