"""Sending wake-ups. The database knows what there is to do; a wake-up only says "now"."""

import logging

from celery import Celery
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from app.core.codes import Code
from app.core.errors import Unavailable
from app.core.request_context import current_request_id
from workers.broker import EXPIRES_SECONDS, MISS, NIGHT, READING, REQUEST_HEADER, UPLOAD

log = logging.getLogger(__name__)


class QueueUnavailable(Unavailable):
    code = Code.QUEUE_UNAVAILABLE


class Waker:
    """Wakes workers for one document. Blocking, for a few seconds at most.

    A broker that is away loses nothing: the methods answer False, and reconcile finds the document in the database.
    """

    def __init__(self, celery: Celery) -> None:
        self._celery = celery

    def wake_ingest(self, document_id: str) -> bool:
        return self._send("ingest", [document_id], UPLOAD)

    def wake_preread(self, document_id: str, priority: int = READING) -> bool:
        return self._send("preread", [document_id], priority)

    def wake_missed(self, document_id: str) -> bool:
        """A question has just missed something of it."""
        return self._send("preread", [document_id], MISS)

    def wake_delete(self, document_id: str) -> bool:
        return self._send("delete", [document_id], UPLOAD)

    def wake_run(self, priority: int = NIGHT) -> bool:
        """For the next document of the run that is open."""
        return self._send("run", [], priority)

    def wake_sync(self) -> bool:
        """For the syncs of folders that wait."""
        return self._send("sync", [], UPLOAD)

    def check(self) -> None:
        """Raises `QueueUnavailable` when the broker does not answer."""
        try:
            with self._celery.connection_for_write() as connection:
                connection.ensure_connection(max_retries=1, interval_start=0, timeout=3)
        except OperationalError as error:
            raise QueueUnavailable(f"The queue does not answer: {error}", "Is Redis running?") from error

    def workers(self) -> int:
        """How many workers answer within a second; the first answer ends the wait. None do where the broker is away."""
        try:
            return len(self._celery.control.ping(timeout=1.0, limit=1) or ())
        except (OperationalError, RedisError, OSError) as error:  # the latter two where it goes away meanwhile
            log.debug("no worker could be asked: %s", error)
            return 0

    def _send(self, task: str, args: list[str], priority: int) -> bool:
        try:
            self._celery.send_task(
                task,
                args=args,
                priority=priority,
                expires=EXPIRES_SECONDS,
                retry=False,
                headers={REQUEST_HEADER: current_request_id()},
            )
        except OperationalError as error:
            log.warning("could not wake a worker for %s: %s", " of ".join([task, *args]), error)
            return False
        return True
