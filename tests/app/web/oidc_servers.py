"""OpenID providers in processes of their own, and a browser's part in signing in through them."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
from waiting import wait_until

from benchmarks.free_port import free_port

_DISCOVERY = "/.well-known/openid-configuration"
_FLAWED = Path(__file__).with_name("flawed_provider.py")


@contextmanager
def real_provider(folder: Path) -> Iterator[str]:
    """`oidc-provider-mock`, a small real provider; its issuer."""
    with _served(folder, lambda port: ["-m", "oidc_provider_mock", "--port", str(port), "--require-nonce"]) as issuer:
        yield issuer


@contextmanager
def flawed_provider(folder: Path) -> Iterator[str]:
    """One that gives out whatever id token it is told to; its issuer."""
    with _served(folder, lambda port: [str(_FLAWED), str(port)]) as issuer:
        yield issuer


@contextmanager
def _served(folder: Path, arguments) -> Iterator[str]:
    port = free_port()
    issuer = f"http://127.0.0.1:{port}"
    with (folder / f"provider-{port}.log").open("wb") as log:
        process = subprocess.Popen([sys.executable, *arguments(port)], stdout=log, stderr=subprocess.STDOUT)
        try:
            wait_until(lambda: process.poll() is not None or _answers(issuer), "the provider answers")
            assert process.poll() is None, Path(log.name).read_text()
            yield issuer
        finally:
            process.terminate()
            process.wait()


def _answers(issuer: str) -> bool:
    try:
        return httpx.get(issuer + _DISCOVERY).is_success
    except httpx.HTTPError:
        return False


def parameters(url: str) -> dict[str, str]:
    """Of a URL's query, each once."""
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
