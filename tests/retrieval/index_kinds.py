"""The ways in which an index is reached. All must behave alike."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from qdrant_server import QdrantServer

from app.core.errors import PrereadError
from retrieval.index import ChunkIndex
from retrieval.index_wire import PATH, SECRET_HEADER, answer
from retrieval.qdrant_index import QdrantIndex
from retrieval.remote_index import RemoteIndex

SECRET = "s3cret"


class Web:
    """What web's internal route does, as an httpx transport."""

    def __init__(self, index: ChunkIndex) -> None:
        self._index = index

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.headers.get(SECRET_HEADER) != SECRET:
            return httpx.Response(404)
        try:
            return httpx.Response(200, json=answer(self._index, request.url.path.removeprefix(PATH), request.content))
        except PrereadError as error:
            problem = {"code": error.code, "detail": error.message, "hint": error.hint}
            return httpx.Response(
                error.status,
                content=json.dumps(problem),
                headers={"content-type": "application/problem+json"},
            )


def remote(index: ChunkIndex, secret: str = SECRET) -> RemoteIndex:
    return RemoteIndex("http://web", secret, transport=httpx.MockTransport(Web(index)))


@contextmanager
def local(folder: Path) -> Iterator[ChunkIndex]:
    index = QdrantIndex.open_local(folder, 3, "a-model")
    try:
        yield index
    finally:
        index.close()


@contextmanager
def through_web(folder: Path) -> Iterator[ChunkIndex]:
    with local(folder) as index:
        over_http = remote(index)
        try:
            yield over_http
        finally:
            over_http.close()


@contextmanager
def on_a_server(folder: Path) -> Iterator[ChunkIndex]:
    server = QdrantServer()
    try:
        index = QdrantIndex.connect(server.url, 3, "a-model")
        yield index
        index.close()
    finally:
        server.stop()


KINDS = {"local": local, "through web": through_web, "server": on_a_server}
"""By name: makes an empty index, in a folder if it needs one, of vectors with three numbers."""
