"""A real HTTP server on this machine that answers what a test wants, and notes what it was asked."""

import threading
from collections.abc import Callable
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ssl import SSLContext
from typing import Any


class FileServer:
    """`answers` by path: a body, or a function that is given the handler. `asked`: (host, path) of each request."""

    def __init__(self, tls: SSLContext | None = None) -> None:
        self.answers: dict[str, bytes | Callable[[BaseHTTPRequestHandler], None]] = {}
        self.asked: list[tuple[str, str]] = []
        self.stopping = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.asked.append((self.headers["host"], self.path))
                answer = server.answers.get(self.path)
                if callable(answer):
                    answer(self)
                elif answer is None:
                    respond(self, 404, b"nothing here")
                else:
                    respond(self, 200, answer)
                self.close_connection = True

            def log_message(self, *_: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.handle_error = lambda *_: None
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self) -> None:
        self.stopping.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def respond(handler: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    handler.send_response(status)
    for name, value in ({"content-length": str(len(body))} | headers).items():
        handler.send_header(name.replace("_", "-"), value)
    handler.end_headers()
    handler.wfile.write(body)


def redirect(to: str, status: int = 302) -> Callable[[BaseHTTPRequestHandler], None]:
    return lambda handler: respond(handler, status, b"", location=to)


@contextmanager
def serving(tls: SSLContext | None = None):
    server = FileServer(tls)
    try:
        yield server
    finally:
        server.close()
