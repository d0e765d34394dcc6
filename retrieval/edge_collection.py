"""A collection of the index in this process: a folder with a shard of Qdrant Edge, and how the shard was made."""

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import qdrant_edge as edge
from pydantic import ValidationError
from qdrant_client.models import CollectionParams

from kvstore.atomic_file import replacing
from retrieval.edge_models import config_of
from retrieval.errors import IndexLocked, IndexUnavailable

_PARAMS = "params.json"
_SHARD = "shard"
_FLUSH_SECONDS = 5.0


class DamagedCollection(Exception):
    """It cannot be opened."""


class EdgeCollection:
    """Make it with `create` or `open`.

    What is written outlives the process when the call returns: it is in the engine's log. The machine's losing power
    may cost the last seconds, as on a server; web finds what is missing or too much in the index (workers/reindex.py,
    workers/orphans.py). Raises IndexUnavailable where the engine fails: a full disk, say.
    """

    def __init__(self, folder: Path, params: CollectionParams, shard: edge.EdgeShard) -> None:
        self.params = params
        self._folder = folder
        self._shard = shard
        self._flushed = time.monotonic()

    @classmethod
    def create(cls, folder: Path, params: CollectionParams) -> "EdgeCollection":
        folder.mkdir(parents=True)
        with _working(folder):
            shard = edge.EdgeShard.create(str(folder / _SHARD), config_of(params))
            shard.flush()
        # Last, so that what a kill leaves unfinished is seen to be so.
        with replacing(folder / _PARAMS) as temporary:
            temporary.write_text(params.model_dump_json(), "utf-8")
        return cls(folder, params, shard)

    @classmethod
    def open(cls, folder: Path) -> "EdgeCollection":
        """Raises: DamagedCollection, IndexLocked."""
        try:
            params = CollectionParams.model_validate_json((folder / _PARAMS).read_bytes())
            with _working(folder):
                shard = edge.EdgeShard.load(str(folder / _SHARD), config_of(params))
        except (FileNotFoundError, ValidationError, IndexUnavailable) as error:
            raise DamagedCollection(str(error)) from error
        return cls(folder, params, shard)

    def update(self, operation: edge.UpdateOperation) -> None:
        with _working(self._folder):
            self._shard.update(operation)
            if time.monotonic() - self._flushed > _FLUSH_SECONDS:
                self._shard.flush()  # which also lets go of the log
                self._flushed = time.monotonic()

    def clear_away(self) -> None:
        """Take out of the files what was deleted, if it is worth it."""
        with _working(self._folder):
            self._shard.optimize()

    def query(self, requests: list[edge.QueryRequest]) -> list[list[edge.ScoredPoint]]:
        with _working(self._folder):
            return self._shard.query_batch(edge.QueryBatchRequest(requests)) if requests else []

    def count(self, chosen: edge.Filter | None) -> int:
        with _working(self._folder):
            return self._shard.count(edge.CountRequest(filter=chosen))

    def retrieve(self, ids: list[str], with_payload: bool) -> list[edge.Record]:
        with _working(self._folder):
            return self._shard.retrieve(list(ids), with_payload=with_payload, with_vector=False)

    def scroll(self, request: edge.ScrollRequest) -> "tuple[list[edge.Record], edge.PointId | None]":
        with _working(self._folder):
            return self._shard.scroll(request)

    def indexed_fields(self) -> list[str]:
        with _working(self._folder):
            return list(self._shard.info().payload_schema)

    def close(self) -> None:
        with _working(self._folder):
            self._shard.close()

    def remove(self) -> None:
        self.close()
        remove(self._folder)


def remove(folder: Path) -> None:
    """Remove a collection's folder; a kill leaves either all of it or what `open` finds damaged."""
    (folder / _PARAMS).unlink(missing_ok=True)
    shutil.rmtree(folder)


@contextmanager
def _working(folder: Path) -> Iterator[None]:
    try:
        yield
    except BaseException as error:
        if "WouldBlock" in str(error):
            raise IndexLocked(
                f"Another process has opened the index in {folder.parent}.",
                "Stop the other Preread, or set a Qdrant server.",
            ) from error
        # The engine raises plain exceptions, and where it breaks off one that is no Exception at all.
        if type(error) is Exception or type(error).__name__ == "PanicException":
            raise IndexUnavailable(
                f"The index in {folder.parent} does not answer: {error}",
                "See whether the disk is full. If a restart does not help, remove that folder: it is made anew.",
            ) from error
        raise
