"""Behind nginx, as it comes (responses held back, HTTP/1.0 to web), and with the file that we ship."""

import re
import socket
import threading
from pathlib import Path

import httpx
import pytest
from private_nginx import PrivateNginx
from scripted_engine import piece, usage
from served_web import web_served
from web_harness import DEADLINE_SECONDS, PAGES, SECRET, Web, events_of, wait_until
from wire import sent

from app.core.settings import Settings
from app.web.body_limit import BodyLimit
from app.web.live import log
from app.web.main import create_app

SHIPPED = (Path(__file__).parents[3] / "deploy" / "nginx" / "preread.conf").read_text()
AS_IT_COMES = "server { listen 127.0.0.1:%d; location / { proxy_pass %s; } }"
QUESTION = "What is the travel meal allowance?"
ENGINE_SECONDS = 2.0


def shipped(port: int, web: str) -> str:
    """The file as it is, but for the two addresses."""
    config = SHIPPED
    for before, after in (("listen 80;", f"listen 127.0.0.1:{port};"), ("http://127.0.0.1:8100", web)):
        assert config.count(before) == 1
        config = config.replace(before, after)
    return config


def free_ports(number: int) -> list[int]:
    listening = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [each.getsockname()[1] for each in listening]
    for each in listening:
        each.close()
    return ports


@pytest.fixture(scope="module")
def direct(engine, tmp_path_factory):
    settings = Settings(
        _env_file=None, state_dir=tmp_path_factory.mktemp("proxied"), engine_url=engine.url, internal_secret=SECRET
    )
    app = create_app(settings)
    with web_served(app, settings, port=0, timeout_seconds=DEADLINE_SECONDS) as (server, client):
        web = Web(client, app.state.services, server, engine)
        for name, text in PAGES.items():
            web.add(name, text)
        yield web


@pytest.fixture(scope="module")
def proxies(direct, tmp_path_factory):
    """Clients of web through nginx, by the kind of its configuration."""
    plain, ours = free_ports(2)
    address = str(direct.client.base_url).rstrip("/")
    nginx = PrivateNginx(
        tmp_path_factory.mktemp("nginx"), AS_IT_COMES % (plain, address) + "\n" + shipped(ours, address)
    )
    nginx.start(plain, ours)
    options = {"headers": direct.client.headers, "timeout": DEADLINE_SECONDS}
    with (
        httpx.Client(base_url=f"http://127.0.0.1:{plain}", **options) as first,
        httpx.Client(base_url=f"http://127.0.0.1:{ours}", **options) as second,
    ):
        yield {"as it comes": first, "as shipped": second}
    nginx.stop()


@pytest.fixture(params=["as it comes", "as shipped"])
def proxied(request, direct, proxies):
    """At rest before and after."""
    direct.engine.behave()
    direct.settle()
    yield proxies[request.param]
    wait_until(lambda: direct.services.admission.running == 0, "no answer is being made")


def streamed(client):
    return client.stream("POST", "/ask", json={"question": QUESTION, "stream": True})


def test_every_word_arrives_before_the_next_one_is_made(direct, proxied):
    words = ["Forty", " five", " euros", " a", " day."]
    gates = [threading.Event() for _ in words]
    made: list[str] = []
    direct.engine.script = []
    for word, gate in zip(words, gates, strict=True):
        direct.engine.script += [lambda gate=gate, word=word: made.append(word) if gate.wait(10) else None, piece(word)]
    direct.engine.script += [piece("", "stop"), usage(), "[DONE]"]
    with streamed(proxied) as response:
        events = events_of(response)
        assert [next(events).name, next(events).name] == ["meta", "sources"]
        for number, (word, gate) in enumerate(zip(words, gates, strict=True)):
            assert made == words[:number]
            gate.set()
            event = next(events)
            assert (event.name, event.data) == ("delta", {"text": word})
        assert [event.name for event in events] == ["done"]


def test_a_silent_answer_is_kept_open_by_comments(direct, proxied, monkeypatch):
    monkeypatch.setattr(log, "IDLE_SECONDS", 0.05)
    go_on = threading.Event()
    direct.engine.script[0:0] = [lambda: go_on.wait(DEADLINE_SECONDS)]
    with streamed(proxied) as response:
        lines = response.iter_lines()
        comments = [line for line, _ in zip((line for line in lines if line.startswith(":")), range(3), strict=False)]
        assert len(comments) == 3
        go_on.set()
        assert "event: done" in list(lines)


@pytest.mark.parametrize("stream", [True, False])
def test_leaving_reaches_the_engine(direct, proxied, stream):
    slow = threading.Event()
    direct.engine.script = [lambda: slow.wait(0.05), piece("")] * 1000
    connection = sent(proxied, QUESTION, stream=stream)
    wait_until(lambda: direct.engine.completions, "the engine is asked")
    connection.close()
    assert direct.engine.left.wait(ENGINE_SECONDS), "the engine still writes"


def test_the_largest_file_that_web_takes_comes_through_as_shipped(direct, proxies):
    limit = direct.services.settings.max_upload_bytes
    assert limit == 50_000_000
    whole = b"The harbour opens at dawn.\n" * (limit // 27)
    whole += b"." * (limit - len(whole))
    answer = proxies["as shipped"].post("/documents", files={"file": ("harbour.txt", whole)})
    assert answer.status_code == 201, answer.text
    assert answer.json()["document"]["size_bytes"] == limit
    refused = proxies["as shipped"].post("/documents", files={"file": ("harbour.txt", whole + b".")})
    assert (refused.status_code, refused.headers["content-type"]) == (413, "application/problem+json")
    assert proxies["as it comes"].post("/documents", files={"file": ("harbour.txt", whole)}).status_code == 413


def test_errors_and_refusals_come_through_as_they_are(direct, proxied):
    direct.engine.script = [None]
    answer = proxied.post("/ask", json={"question": QUESTION})
    assert (answer.status_code, answer.json()["code"]) == (502, "engine_failed")
    answer = proxied.get("/documents/doc_none")
    assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


def test_internal_routes_are_not_reached_as_shipped(proxies):
    headers = {"X-Preread-Internal": SECRET}
    body = {"tenant": "default"}
    assert proxies["as shipped"].post("/internal/index/count", json=body, headers=headers).status_code == 404
    assert proxies["as it comes"].post("/internal/index/count", json=body, headers=headers).status_code == 200


def test_streams_tell_proxies_not_to_hold_them_back(web):
    with streamed(web.client) as response:
        assert response.headers["x-accel-buffering"] == "no"
        assert response.headers["cache-control"] == "no-store"
        response.read()


def test_the_shipped_limit_leaves_room_for_a_form_around_the_largest_file():
    (megabytes,) = re.findall(r"client_max_body_size (\d+)m;", SHIPPED)
    largest = BodyLimit(lambda *_: None, Settings(_env_file=None))._limit("/documents")
    assert int(megabytes) * 2**20 >= largest
