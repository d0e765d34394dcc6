"""Uploads sent again with the same `Idempotency-Key`: done once, answered the same, by whichever web they reach."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from served_web import web_served
from web_harness import DEADLINE_SECONDS, Web, wait_until

from app.core.ids import new_id
from app.web.idempotency import Idempotency
from app.web.library import Library
from app.web.main import create_app
from app.web.schemas.system import Health
from app.web.services import Services

REPLAYED = "idempotent-replayed"


@pytest.fixture(scope="module")
def second(shared_web):
    address = str(shared_web.client.base_url).rstrip("/")
    settings = shared_web.services.settings.model_copy(update={"index_url": address})
    app = create_app(settings)
    with web_served(app, settings, port=0, timeout_seconds=DEADLINE_SECONDS) as (server, client):
        yield Web(client, app.state.services, server, shared_web.engine)


@pytest.fixture
def key():
    return new_id("key")


def upload(web, key, name="pier.md", content=b"The pier opens at dawn.", **fields):
    files = {"file": (name, content)}
    return web.client.post("/documents", files=files, data=fields, headers={"Idempotency-Key": key})


def test_the_second_time_the_first_answer_comes_again(web, second, key):
    first = upload(web, key, content=key.encode())
    assert first.status_code == 201
    assert REPLAYED not in first.headers
    for each in (web, second):
        again = upload(each, key, content=key.encode())
        assert (again.status_code, again.json()) == (201, first.json())
        assert again.headers[REPLAYED] == "true"


def test_without_the_key_it_is_done_again(web, key):
    upload(web, key, content=key.encode())
    again = web.client.post("/documents", files={"file": ("pier.md", key.encode())})
    assert (again.status_code, again.json()["created"]) == (200, False)


@pytest.mark.parametrize(
    "other",
    [{"content": b"Another text."}, {"name": "quay.md"}, {"tags": ["sea"]}, {"collections": ["harbour"]}],
    ids=["bytes", "name", "tags", "collections"],
)
def test_another_request_under_the_key_is_a_mismatch(web, key, other):
    upload(web, key, content=key.encode())
    answer = upload(web, key, **{"content": key.encode(), **other})
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_mismatch")


def test_an_upload_and_a_list_of_urls_cannot_share_a_key(web, key):
    upload(web, key, content=key.encode())
    answer = web.client.post(
        "/documents/urls", json={"urls": ["https://docs.example.org/"]}, headers={"Idempotency-Key": key}
    )
    assert answer.json()["code"] == "idempotency_mismatch"


def test_a_list_of_urls_is_fetched_once(web, key, monkeypatch):
    def send():
        return web.client.post(
            "/documents/urls", json={"urls": ["https://docs.example.org/"]}, headers={"Idempotency-Key": key}
        )

    first, again = send(), send()
    assert first.json() == again.json()
    assert first.json()["items"][0]["error"]["code"] == "url_not_allowed"
    assert (first.headers.get(REPLAYED), again.headers.get(REPLAYED)) == (None, "true")


def test_while_the_first_is_under_way_others_are_told_to_wait(web, second, key, monkeypatch):
    hold, add = threading.Event(), Library.add
    held = threading.Event()

    def slow(*args, **more):
        held.set()
        assert hold.wait(DEADLINE_SECONDS)
        return add(*args, **more)

    monkeypatch.setattr(Library, "add", slow)
    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(upload, web, key, content=key.encode())
        assert held.wait(DEADLINE_SECONDS)
        for each in (web, second):
            answer = upload(each, key, content=key.encode())
            assert (answer.status_code, answer.json()["code"]) == (409, "idempotency_in_progress")
            assert answer.headers["retry-after"] == "1"
        hold.set()
        assert first.result().status_code == 201
    assert upload(second, key, content=key.encode()).headers[REPLAYED] == "true"


def test_one_that_fails_frees_its_key(web, key):
    refused = upload(web, key, content=b"")
    assert refused.json()["code"] == "empty_file"
    assert upload(web, key, content=key.encode()).status_code == 201


def test_a_lease_is_renewed_for_as_long_as_the_work_goes_on(web, key, monkeypatch):
    short = web.services.settings.model_copy(update={"lease_seconds": 0.3})
    renewed, renew = threading.Event(), web.services.catalog.renew_once

    def renewing(*args):
        renew(*args)
        renewed.set()

    monkeypatch.setattr(web.services.catalog, "renew_once", renewing)
    services: Services = replace(web.services, settings=short)

    def work():
        wait_until(renewed.is_set, "the lease is renewed")
        return 200, Health(status="ok")

    assert Idempotency(services, "default", key).answer(lambda: ["x"], work).status_code == 200


@pytest.mark.parametrize("sent", ["", "x" * 256, "a b", "ü"], ids=ascii)
def test_a_key_that_cannot_be_one_is_refused(web, sent):
    answer = web.client.post(
        "/documents", files={"file": ("a.md", b"text")}, headers={"Idempotency-Key": sent.encode()}
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "bad_input")
    assert answer.json()["errors"][0]["pointer"] == "/header/Idempotency-Key"
