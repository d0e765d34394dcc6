"""`Idempotency-Key`: what is sent again with the same key is answered again, and done once."""

import json
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import copy_context
from datetime import timedelta
from hashlib import sha256
from threading import Event, Thread

from pydantic import BaseModel
from starlette.responses import JSONResponse

from app.core.catalog import DatabaseUnavailable, KeptAnswer
from app.core.ids import new_id
from app.web.services import Services

REPLAYED_HEADER = "Idempotent-Replayed"

log = logging.getLogger(__name__)

_RENEWALS_PER_LEASE = 3


class Idempotency:
    """`key` is the request's; without one everything is done each time it is sent. Blocking."""

    def __init__(self, services: Services, tenant: str, key: str | None) -> None:
        self._catalog = services.catalog
        self._tenant = tenant
        self._key = key
        self._lease_seconds = services.settings.lease_seconds
        self._kept = timedelta(hours=services.settings.idempotency_hours)

    def answer(self, request: Callable[[], Sequence[object]], do: Callable[[], tuple[int, BaseModel]]) -> JSONResponse:
        """The status and body that `do` returns, or returned before to an equal `request` with this key.

        What `do` raises frees the key. `request` tells what was asked for, in JSON values. Raises IdempotencyMismatch,
        IdempotencyInProgress and what `do` raises.
        """
        if self._key is None:
            return _response(_done(do))
        fingerprint, owner = sha256(json.dumps(request()).encode()).hexdigest(), new_id("own")
        kept = self._catalog.begin_once(
            self._tenant, self._key, fingerprint, owner, self._lease_seconds, self._kept
        )  # fmt: skip
        if kept is not None:
            return _response(kept, {REPLAYED_HEADER: "true"})
        done: KeptAnswer | None = None
        try:
            with self._renewed(self._key, owner):
                done = _done(do)
        finally:
            self._catalog.end_once(self._tenant, self._key, owner, done)
        return _response(done)

    @contextmanager
    def _renewed(self, key: str, owner: str) -> Iterator[None]:
        stop = Event()

        def keep() -> None:
            while not stop.wait(self._lease_seconds / _RENEWALS_PER_LEASE):
                try:
                    self._catalog.renew_once(self._tenant, key, owner, self._lease_seconds)
                except DatabaseUnavailable as error:
                    log.warning("the lease of an idempotency key was not renewed: %s", error)

        keeper = Thread(target=copy_context().run, args=(keep,), daemon=True)
        keeper.start()
        try:
            yield
        finally:
            stop.set()
            keeper.join()


def _done(do: Callable[[], tuple[int, BaseModel]]) -> KeptAnswer:
    status, body = do()
    return KeptAnswer(status, body.model_dump(mode="json"))


def _response(answer: KeptAnswer, headers: dict[str, str] | None = None) -> JSONResponse:
    return JSONResponse(answer.body, status_code=answer.status, headers=headers)


__all__ = ["REPLAYED_HEADER", "Idempotency"]
