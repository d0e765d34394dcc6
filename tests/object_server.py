"""A server that speaks S3, for tests of the object tier.

It runs in a process of its own: vLLM looks at everything in every module that is loaded, and Flask, which moto brings
along, has objects that may not be looked at.
"""

import multiprocessing
from collections.abc import Mapping
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import Any

import httpx

BUCKET = "bucket"
_DEADLINE_SECONDS = 120


class ObjectServer:
    """With one empty bucket. What is in it outlives a stop and a start."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        context.Process(target=_serve, args=(theirs,), daemon=True).start()
        self.port = self._answer()
        self.empty()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def options(self) -> Mapping[str, str]:
        return {
            "aws_endpoint_url": self.url,
            "aws_allow_http": "true",
            "aws_access_key_id": "id",
            "aws_secret_access_key": "secret",
            "aws_region": "us-east-1",
        }

    def empty(self) -> None:
        httpx.post(f"{self.url}/moto-api/reset").raise_for_status()
        httpx.put(f"{self.url}/{BUCKET}").raise_for_status()

    def put(self, name: str, data: bytes) -> None:
        httpx.put(f"{self.url}/{BUCKET}/{name}", content=data).raise_for_status()

    def names(self) -> list[str]:
        return self._asked("names")

    def make_older(self, name: str, seconds: float) -> None:
        self._asked("make_older", name, seconds)

    def let_in(self, anyone: bool) -> None:
        httpx.post(f"{self.url}/moto-api/reset-auth", content="inf" if anyone else "0").raise_for_status()

    def stop(self) -> None:
        self._asked("stop")

    def start_again(self) -> None:
        self._asked("start")

    def _asked(self, *command: Any) -> Any:
        self._pipe.send(command)
        return self._answer()

    def _answer(self) -> Any:
        assert self._pipe.poll(_DEADLINE_SECONDS), "the object server does not answer"
        return self._pipe.recv()


def _serve(pipe: Connection) -> None:
    from moto.core import DEFAULT_ACCOUNT_ID
    from moto.s3.models import s3_backends
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    port = server.get_host_and_port()[1]
    pipe.send(port)
    while True:
        try:
            command, *arguments = pipe.recv()
        except EOFError:  # the tests have ended
            return
        answer = None
        if command == "stop":
            server.stop()
        elif command == "start":
            server = ThreadedMotoServer("127.0.0.1", port, verbose=False)
            server.start()
        else:
            objects = s3_backends[DEFAULT_ACCOUNT_ID]["aws"].buckets[BUCKET].keys
            if command == "names":
                answer = sorted(objects.keys())
            else:
                name, seconds = arguments
                objects[name].last_modified -= timedelta(seconds=seconds)
        pipe.send(answer)


__all__ = ["BUCKET", "ObjectServer"]
