"""What web processes share about running answers in the queue Redis: names, lives, and the client.

    preread:answer:ID           who asked, which process answers                  JSON
    preread:answer:ID:events    its events, several to an entry, whose id is the last one's number
    preread:web:ID              a process that answers is alive
    preread:web:ID:inbox        what others want of it
"""

import json
from dataclasses import asdict, dataclass

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from app.core.settings import Settings

RUNNING_SECONDS = 3600
"""What a running answer left is forgotten so long after its last event; its process may have been killed."""

FIELD = "events"
ALIVE_SECONDS = 5
TICK_SECONDS = 0.2

_CONNECT_SECONDS = 1.0
_REPLY_SECONDS = 2.0


@dataclass(frozen=True)
class Header:
    """Who asked and which process answers; `events`: whether these can be read."""

    tenant: str
    owner: str
    web: str
    events: bool

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> "Header":
        return cls(**json.loads(text))


def header_key(request_id: str) -> str:
    return f"preread:answer:{request_id}"


def events_key(request_id: str) -> str:
    return f"preread:answer:{request_id}:events"


def web_key(web: str) -> str:
    return f"preread:web:{web}"


def inbox_key(web: str) -> str:
    return f"preread:web:{web}:inbox"


def queue_redis(settings: Settings) -> Redis:
    """Fails within seconds where Redis is away."""
    return Redis.from_url(
        settings.redis_client_url,
        decode_responses=True,
        socket_connect_timeout=_CONNECT_SECONDS,
        socket_timeout=_REPLY_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
