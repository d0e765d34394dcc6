"""A server that speaks S3, in this process, for tests of the object tier."""

from collections.abc import Mapping
from datetime import timedelta

import httpx
from moto.core import DEFAULT_ACCOUNT_ID
from moto.s3.models import s3_backends
from moto.server import ThreadedMotoServer

BUCKET = "bucket"


class ObjectServer:
    """With one empty bucket. What is in it outlives a stop and a start."""

    def __init__(self) -> None:
        self._server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
        self._server.start()
        self.port = self._server.get_host_and_port()[1]
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
        return sorted(self._objects().keys())

    def make_older(self, name: str, seconds: float) -> None:
        self._objects()[name].last_modified -= timedelta(seconds=seconds)

    def let_in(self, anyone: bool) -> None:
        httpx.post(f"{self.url}/moto-api/reset-auth", content="inf" if anyone else "0").raise_for_status()

    def stop(self) -> None:
        self._server.stop()

    def start_again(self) -> None:
        self._server = ThreadedMotoServer("127.0.0.1", self.port, verbose=False)
        self._server.start()

    def _objects(self):
        return s3_backends[DEFAULT_ACCOUNT_ID]["aws"].buckets[BUCKET].keys


__all__ = ["BUCKET", "ObjectServer"]
