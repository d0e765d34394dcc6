"""Celery's Redis transport, made to survive what is no message.

kombu's own takes a message off its list, decodes it, and lets whatever goes wrong with that end the worker.
"""

import logging
from collections.abc import Callable
from enum import StrEnum
from queue import Empty
from typing import Any

from kombu.transport import redis

log = logging.getLogger(__name__)


class DropReason(StrEnum):
    """Why a message was dropped: it cannot be read, asks for no task of ours, has wrong contents, or its task broke."""

    UNREADABLE = "unreadable"
    UNKNOWN_TASK = "unknown_task"
    BAD_MESSAGE = "bad_message"
    FAILED_TASK = "failed_task"


on_dropped: list[Callable[[str, str], object]] = []
"""Told the reason and the text of each message that is dropped."""


class Channel(redis.Channel):
    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]
        except Empty:
            raise
        except (ValueError, KeyError, TypeError, AttributeError) as error:  # no error of a connection is one of these
            dropped(DropReason.UNREADABLE, repr(error))
            return None


class Transport(redis.Transport):
    Channel = Channel


def dropped(reason: DropReason, text: str) -> None:
    log.error("a message was dropped, %s: %s", reason, text)
    for tell in on_dropped:
        tell(reason, text)
