"""What each key may take: requests a minute and requests at once, over all webs, and while Redis is away."""

import logging
import threading
from contextlib import ExitStack, contextmanager

import httpx
import pytest
from credentials import bearer, new_key
from mortal_redis import MortalRedis
from scripted_engine import WELL, piece
from served_web import web_served
from web_harness import DEADLINE_SECONDS, wait_until

from app.core.access import Role
from app.web.main import create_app

QUESTION = {"question": "What is the travel meal allowance?", "stream": True}


@pytest.fixture(scope="module")
def redis(tmp_path_factory):
    redis = MortalRedis(tmp_path_factory.mktemp("r", numbered=True))
    yield redis
    redis.kill()


@pytest.fixture(scope="module")
def two_webs(shared_web, redis):
    """Beside the shared one, on its database and index, and with a Redis."""
    address = str(shared_web.client.base_url).rstrip("/")
    queue = redis.url.replace("unix://", "redis+socket://")
    settings = shared_web.services.settings.model_copy(update={"index_url": address, "redis_url": queue})
    with ExitStack() as stack:
        served = [
            stack.enter_context(web_served(create_app(settings), settings, port=0, timeout_seconds=DEADLINE_SECONDS))
            for _ in range(2)
        ]
        yield [client.base_url for _, client in served]


@pytest.fixture
def key(shared_web):
    def key(**limits):
        return bearer(new_key(shared_web.services.catalog, role=Role.READER, **limits)[1])

    return key


def status(url, headers, path="/documents"):
    return httpx.get(f"{url}{path}", headers=headers, timeout=30)


@contextmanager
def open_answer(url, headers):
    """A stream that goes on until the block ends."""
    body = httpx.stream("POST", f"{url}/ask", json=QUESTION, headers=headers, timeout=60)
    with body as response:
        yield response


@pytest.fixture
def endless(web):
    """Answers that do not end before the test does."""
    ended = threading.Event()
    web.engine.script = [piece("Forty"), lambda: ended.wait(60) and None, *WELL]
    yield ended
    ended.set()


def test_requests_over_the_limit_wait_whichever_web_they_go_to(two_webs, key):
    headers = key(requests_per_minute=4)
    answers = [status(two_webs[n % 2], headers) for n in range(6)]
    assert [answer.status_code for answer in answers] == [200] * 4 + [429] * 2
    refused = answers[-1]
    assert refused.json()["code"] == "rate_limited"
    assert 0 < int(refused.headers["retry-after"]) <= 60


def test_a_key_without_a_limit_is_not_counted_and_keys_do_not_share_one(two_webs, key):
    used_up = key(requests_per_minute=1)
    assert [status(two_webs[0], used_up).status_code for _ in range(2)] == [200, 429]
    assert status(two_webs[0], key(requests_per_minute=1)).status_code == 200
    free = key()
    assert {status(two_webs[0], free).status_code for _ in range(5)} == {200}


def test_an_open_stream_counts_until_it_ends_whichever_web_it_is_at(two_webs, key, endless):
    headers = key(concurrent_requests=2)
    first, second = two_webs
    with open_answer(first, headers) as one, open_answer(second, headers) as two:
        assert (one.status_code, two.status_code) == (200, 200)
        refused = status(first, headers)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_at_once")
        assert int(refused.headers["retry-after"]) > 0
        assert status(first, key(concurrent_requests=2)).status_code == 200, "another key's"
    endless.set()
    wait_until(lambda: status(first, headers).status_code == 200, "the streams that were left count no more")


def test_requests_one_after_the_other_are_never_too_many_at_once(two_webs, key):
    headers = key(concurrent_requests=1)
    answers = []
    for _ in range(5):
        wait_until(lambda: answers.append(status(two_webs[0], headers)) or answers[-1].status_code == 200, "it ended")
    assert answers[-1].status_code == 200


def test_health_is_told_whoever_is_over_the_limit(two_webs, key):
    headers = key(requests_per_minute=1)
    assert [status(two_webs[0], headers).status_code for _ in range(2)] == [200, 429]
    assert status(two_webs[0], headers, "/healthz").status_code == 200
    assert status(two_webs[0], headers, "/readyz").status_code in (200, 503)


def test_without_redis_each_web_counts_by_itself_and_says_so_once(web, key, caplog):
    """The shared web has none."""
    url = web.client.base_url
    with caplog.at_level(logging.WARNING, "app.web.access.shared_redis"):
        headers = key(requests_per_minute=3)
        assert [status(url, headers).status_code for _ in range(4)] == [200] * 3 + [429]
    assert len(caplog.records) <= 1


def test_without_redis_open_streams_are_counted_too(web, key, endless):
    headers = key(concurrent_requests=1)
    url = web.client.base_url
    with open_answer(url, headers) as stream:
        assert stream.status_code == 200
        assert status(url, headers).json()["code"] == "too_many_at_once"
    endless.set()
    wait_until(lambda: status(url, headers).status_code == 200, "the stream that was left counts no more")


def test_the_settings_give_the_limits_of_keys_that_have_none(web, key, monkeypatch):
    access = web.server.config.app.state.access
    settings = web.services.settings.model_copy(update={"key_requests_per_minute": 2})
    monkeypatch.setattr(access.limits, "_settings", settings)
    url, headers = web.client.base_url, key()
    assert [status(url, headers).status_code for _ in range(3)] == [200, 200, 429]
    own = key(requests_per_minute=0)
    assert {status(url, own).status_code for _ in range(4)} == {200}
