"""A server that answers as Qdrant does over HTTP, and keeps what it was asked.

What the answers mean comes from the client's own local mode. From a server's documentation (api.qdrant.tech, 1.19; the
bodies are read back by the client's models, which are made from the same OpenAPI file) come the routes and envelopes,
and what local mode does not show: a change that nobody waits for is only acknowledged (here it is never made), a
collection that is there already is a conflict, one that is not is not found, and in strict mode whatever is filtered
by must be indexed.
"""

import json
import re
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from qdrant_client import QdrantClient
from qdrant_client import models as m

Json = Any


@dataclass(frozen=True)
class Asked:
    """One request, without what differs from run to run."""

    method: str
    path: str
    query: dict[str, str]
    body: Json

    def as_json(self) -> Json:
        return {"method": self.method, "path": self.path, "query": self.query, "body": self.body}


@dataclass(frozen=True)
class Answer:
    status: int
    body: Json
    headers: dict[str, str] = field(default_factory=dict)


class Refused(Exception):
    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


class QdrantServer:
    """`before`, if set, is called with each request first; an answer from it is given in place of the true one."""

    def __init__(self, api_key: str = "", version: str = "1.19.1", tls: ssl.SSLContext | None = None) -> None:
        self.asked: list[Asked] = []
        self.keys: set[str | None] = set()
        self.before: Callable[[Asked], Answer | None] = lambda asked: None
        self.behind = QdrantClient(":memory:", force_disable_check_same_thread=True)
        self._api_key = api_key
        self._version = version
        self._indexed: dict[str, set[str]] = {}
        self._turn = threading.RLock()
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._http.daemon_threads = True
        if tls is not None:
            self._http.socket = tls.wrap_socket(self._http.socket, server_side=True)
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._http.server_port}"

    def stop(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def indexed(self, collection: str) -> set[str]:
        return self._indexed.get(collection, set())

    def answer(self, asked: Asked, key: str | None) -> Answer:
        self.asked.append(asked)
        self.keys.add(key)
        if self._api_key and key != self._api_key:
            return Answer(401, "Invalid API key or JWT")
        if (instead := self.before(asked)) is not None:
            return instead
        try:
            with self._turn:
                return Answer(200, self._result(asked))
        except Refused as refused:
            return Answer(refused.status, {"status": {"error": str(refused)}, "time": 0.0})
        except ValueError as error:
            return Answer(400, {"status": {"error": f"Wrong input: {error}"}, "time": 0.0})

    def _result(self, asked: Asked) -> Json:
        if asked.path == "/":
            return {"title": "qdrant - vector search engine", "version": self._version, "commit": "0"}
        for method, pattern, answering in _ROUTES:
            match = re.fullmatch(pattern, asked.path)
            if match and method == asked.method:
                return {"result": answering(self, asked, *match.groups()), "status": "ok", "time": 0.0}
        raise Refused(404, f"no route {asked.method} {asked.path}")

    def _exists(self, asked: Asked, name: str) -> Json:
        return {"exists": self.behind.collection_exists(name)}

    def _collections(self, asked: Asked) -> Json:
        return _dumped(self.behind.get_collections())

    def _collection(self, asked: Asked, name: str) -> Json:
        self._there(name)
        schema = {each: {"data_type": "keyword", "points": 0} for each in sorted(self.indexed(name))}
        return _dumped(self.behind.get_collection(name)) | {"payload_schema": schema}

    def _create(self, asked: Asked, name: str) -> Json:
        if self.behind.collection_exists(name):
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        wanted = m.CreateCollection(**asked.body)
        return self.behind.create_collection(name, wanted.vectors, sparse_vectors_config=wanted.sparse_vectors)

    def _drop(self, asked: Asked, name: str) -> Json:
        self._indexed.pop(name, None)
        return self.behind.delete_collection(name)

    def _index_field(self, asked: Asked, name: str) -> Json:
        self._there(name)
        assert asked.body["field_schema"] == "keyword"
        return self._changed(asked, lambda: self._indexed.setdefault(name, set()).add(asked.body["field_name"]))

    def _upsert(self, asked: Asked, name: str) -> Json:
        self._there(name)
        return self._changed(asked, lambda: self.behind.upsert(name, m.PointsList(**asked.body).points))

    def _delete(self, asked: Asked, name: str) -> Json:
        chosen = self._filter(name, asked.body)
        assert chosen is not None
        return self._changed(asked, lambda: self.behind.delete(name, m.FilterSelector(filter=chosen)))

    def _set_payload(self, asked: Asked, name: str) -> Json:
        chosen = self._filter(name, asked.body)
        assert chosen is not None
        return self._changed(asked, lambda: self.behind.set_payload(name, asked.body["payload"], chosen))

    def _query(self, asked: Asked, name: str) -> Json:
        for search in asked.body["searches"]:
            self._filter(name, search)
        searches = m.QueryRequestBatch(**asked.body).searches
        return [_dumped(each) for each in self.behind.query_batch_points(name, searches)]

    def _count(self, asked: Asked, name: str) -> Json:
        return _dumped(self.behind.count(name, self._filter(name, asked.body), exact=asked.body["exact"]))

    def _retrieve(self, asked: Asked, name: str) -> Json:
        self._there(name)
        wanted = m.PointRequest(**asked.body)
        found = self.behind.retrieve(name, wanted.ids, wanted.with_payload or False, wanted.with_vector or False)
        return [_dumped(each) for each in found]

    def _scroll(self, asked: Asked, name: str) -> Json:
        chosen = self._filter(name, asked.body)
        wanted = m.ScrollRequest(**asked.body)
        points, following = self.behind.scroll(
            name, chosen, limit=wanted.limit or 10, offset=wanted.offset, with_payload=wanted.with_payload or False
        )
        return {"points": [_dumped(each) for each in points], "next_page_offset": following}

    def _filter(self, name: str, body: Json) -> m.Filter | None:
        self._there(name)
        if not body.get("filter"):
            return None
        chosen = m.Filter(**body["filter"])
        for condition in chosen.must or []:
            if condition.key not in self.indexed(name):
                raise Refused(
                    400,
                    f'Bad request: Index required but not found for "{condition.key}" of one of the following types: '
                    "[keyword]. Help: Create an index for this key or use a different filter.",
                )
        return chosen

    def _changed(self, asked: Asked, change: Callable[[], object]) -> Json:
        waited = asked.query.get("wait") == "true"
        if waited:
            change()
        return {"operation_id": len(self.asked), "status": "completed" if waited else "acknowledged"}

    def _there(self, name: str) -> None:
        if not self.behind.collection_exists(name):
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")


_NAMED = "/collections/([^/]+)"
_ROUTES: list[tuple[str, str, Callable[..., Json]]] = [
    ("GET", "/collections", QdrantServer._collections),
    ("GET", f"{_NAMED}/exists", QdrantServer._exists),
    ("GET", _NAMED, QdrantServer._collection),
    ("PUT", _NAMED, QdrantServer._create),
    ("DELETE", _NAMED, QdrantServer._drop),
    ("PUT", f"{_NAMED}/index", QdrantServer._index_field),
    ("PUT", f"{_NAMED}/points", QdrantServer._upsert),
    ("POST", f"{_NAMED}/points", QdrantServer._retrieve),
    ("POST", f"{_NAMED}/points/delete", QdrantServer._delete),
    ("POST", f"{_NAMED}/points/payload", QdrantServer._set_payload),
    ("POST", f"{_NAMED}/points/query/batch", QdrantServer._query),
    ("POST", f"{_NAMED}/points/count", QdrantServer._count),
    ("POST", f"{_NAMED}/points/scroll", QdrantServer._scroll),
]


def _dumped(model: Any) -> Json:
    return model.model_dump(mode="json")


def _handler(server: QdrantServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            url = urlsplit(self.path)
            data = self.rfile.read(int(self.headers.get("content-length") or 0))
            asked = Asked(self.command, url.path, dict(parse_qsl(url.query)), json.loads(data) if data else None)
            answer = server.answer(asked, self.headers.get("api-key"))
            plain = isinstance(answer.body, str)
            content = (answer.body if plain else json.dumps(answer.body)).encode()
            self.send_response(answer.status)
            self.send_header("content-type", "text/plain" if plain else "application/json")
            self.send_header("content-length", str(len(content)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):  # who asked may have waited long enough
                self.wfile.write(content)

        do_GET = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815

        def log_message(self, *args: object) -> None: ...

    return Handler


__all__ = ["Answer", "Asked", "QdrantServer"]
