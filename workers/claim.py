"""A worker's claim on a document, renewed from a background thread while the work goes on."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from sqlalchemy.exc import SQLAlchemyError

from app.core.catalog import Catalog, Document, WorkRefused
from app.core.ids import new_id

log = logging.getLogger(__name__)

_RENEWALS_PER_LEASE = 3


class Claim:
    """`document` is what was claimed; `owner` goes with every write."""

    def __init__(self, catalog: Catalog, document: Document, owner: str, seconds: float) -> None:
        self.document = document
        self.owner = owner
        self._catalog = catalog
        self._seconds = seconds
        self._stop = Event()
        self._refusal: WorkRefused | None = None
        self._thread = Thread(target=self._keep, name=f"claim-{document.id}", daemon=True)

    def check(self) -> None:
        """Raises WorkRefused once the claim is lost or the document is being deleted."""
        self._renew()
        if self._refusal:
            raise self._refusal

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _keep(self) -> None:
        while not self._refusal and not self._stop.wait(self._seconds / _RENEWALS_PER_LEASE):
            try:
                self._renew()
            except SQLAlchemyError as error:
                log.warning("could not renew the claim on %s: %s", self.document.id, error)

    def _renew(self) -> None:
        try:
            self._catalog.renew(self.document.id, self.owner, self._seconds)
        except WorkRefused as refusal:
            self._refusal = refusal


@contextmanager
def claimed(catalog: Catalog, document_id: str, seconds: float) -> Iterator[Claim | None]:
    """Hold a document for the time of the block; None: another worker has it, or it is gone."""
    owner = new_id("run")
    document = catalog.claim(document_id, owner, seconds)
    if document is None:
        yield None
        return
    claim = Claim(catalog, document, owner, seconds)
    claim.start()
    try:
        yield claim
    finally:
        claim.stop()
        catalog.release(document_id, owner)
