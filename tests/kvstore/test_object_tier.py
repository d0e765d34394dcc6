"""The object tier against a real server, and against servers that fail."""

import socket
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from object_server import BUCKET, ObjectServer

from kvstore.errors import BadName, TierDown, TooLarge
from kvstore.tiers.object import ObjectTier

A, B, C, D = "a" * 64, "b" * 64, "c" * 64, "d" * 64
URL = f"s3://{BUCKET}/some/prefix"


def name(key: str) -> str:
    return f"some/prefix/t/{key[:2]}/{key}.kv"


@pytest.fixture(scope="module")
def running():
    server = ObjectServer()
    yield server
    server.stop()


@pytest.fixture
def server(running) -> ObjectServer:
    running.empty()
    return running


@pytest.fixture
def tier(server) -> ObjectTier:
    return ObjectTier(URL, options=server.options)


@contextmanager
def answering(status: int, body: bytes = b"", length: int | None = None):
    """A server that always says the same: its options, and the methods it was asked with."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def answer(self):
            asked.append(self.command)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body) if length is None else length))
            self.send_header("Last-Modified", "Tue, 01 Dec 2026 00:00:00 GMT")
            self.send_header("ETag", '"1"')
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_HEAD = answer  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield at(server.server_port), asked
    finally:
        server.shutdown()
        server.server_close()


def at(port: int) -> dict[str, str]:
    return {
        "aws_endpoint_url": f"http://127.0.0.1:{port}",
        "aws_allow_http": "true",
        "aws_access_key_id": "id",
        "aws_secret_access_key": "secret",
    }


def calls(tier: ObjectTier) -> list:
    return [
        lambda: tier.get("t", A),
        lambda: tier.put("t", A, b"x"),
        lambda: tier.delete("t", A),
        lambda: tier.contains("t", [A, B]),
        lambda: tier.sizes("t", [A, B]),
        tier.stats,
    ]


def test_an_object_lies_under_the_prefix_by_tenant_and_key(server, tier):
    tier.put("t", A, b"x")
    assert server.names() == [name(A)]


def test_another_tier_of_the_same_url_finds_it(server, tier):
    tier.put("t", A, b"x" * 1_000_000)
    assert ObjectTier(URL, options=server.options).get("t", A) == b"x" * 1_000_000
    assert ObjectTier(f"s3://{BUCKET}", options=server.options).get("t", A) is None


def test_many_keys_are_looked_up_at_once(tier):
    keys = [f"{number:064x}" for number in range(100)]
    for number in range(0, 100, 7):
        tier.put("t", keys[number], b"x" * number)
    assert tier.sizes("t", keys) == {keys[number]: number for number in range(0, 100, 7)}
    assert tier.contains("t", keys) == set(keys[::7])


def test_what_others_keep_in_the_bucket_is_not_counted(server, tier):
    for other in ("some/prefix/readme.txt", f"some/prefix/{A}.kv", f"elsewhere/t/aa/{A}.kv"):
        server.put(other, b"123")
    tier.put("t", A, b"12345")
    assert (tier.stats().entries, tier.stats().bytes, tier.stats().limit_bytes) == (1, 5, None)


def test_the_environment_says_where_the_store_is(server, monkeypatch):
    for option, value in server.options.items():
        monkeypatch.setenv(option.upper(), value)
    tier = ObjectTier(URL)
    tier.put("t", A, b"x")
    assert tier.get("t", A) == b"x"


def test_a_store_is_not_asked_in_the_clear_unless_that_is_allowed(server):
    tier = ObjectTier(URL, options={**server.options, "aws_allow_http": "false"})
    with pytest.raises(TierDown):
        tier.put("t", A, b"x")
    assert server.names() == []


def test_an_object_older_than_its_life_is_absent_everywhere_and_goes(server):
    tier = ObjectTier(URL, ttl_seconds=60, options=server.options)
    for look in (
        lambda: tier.get("t", A),
        lambda: tier.contains("t", [A]) or None,
        lambda: tier.sizes("t", [A]) or None,
        lambda: tier.delete("t", A) or None,
    ):
        tier.put("t", A, b"x")
        assert tier.contains("t", [A]) == {A}
        server.make_older(name(A), 3600)
        assert tier.stats().entries == 0
        assert look() is None
        assert server.names() == []


def test_without_a_life_objects_stay(server, tier):
    tier.put("t", A, b"x")
    server.make_older(name(A), 10**9)
    assert tier.get("t", A) == b"x"


def test_the_oldest_go_first_until_a_tenth_is_free(server):
    tier = ObjectTier(URL, limit_bytes=100, options=server.options)
    for key, age in ((A, 60), (B, 3600), (C, 1800)):
        tier.put("t", key, b"x" * 30)
        server.make_older(name(key), age)
    tier.put("t", D, b"x" * 30)
    assert server.names() == [name(A), name(C), name(D)]
    assert tier.stats().bytes == 90
    assert tier.stats().limit_bytes == 100


def test_an_object_that_fills_the_tier_drives_out_the_others_but_not_itself(server):
    tier = ObjectTier(URL, limit_bytes=100, options=server.options)
    tier.put("t", A, b"x" * 50)
    tier.put("t", B, b"x" * 100)
    assert server.names() == [name(B)]


def test_an_object_larger_than_the_tier_is_refused_and_evicts_nothing(server):
    tier = ObjectTier(URL, limit_bytes=100, options=server.options)
    tier.put("t", A, b"x" * 50)
    with pytest.raises(TooLarge, match="101 bytes"):
        tier.put("t", B, b"x" * 101)
    assert server.names() == [name(A)]


def test_a_leased_object_is_not_evicted_while_the_lease_lasts(server):
    now = 0.0
    tier = ObjectTier(URL, limit_bytes=100, options=server.options, monotonic=lambda: now)
    for key, age in ((A, 3600), (B, 60)):
        tier.put("t", key, b"x" * 40)
        server.make_older(name(key), age)
    tier.lease("t", [A], "one", 30)
    tier.lease("t", [A], "another", 5)
    tier.release("another")
    now = 29
    tier.put("t", C, b"x" * 40)
    assert server.names() == [name(A), name(C)]
    now = 30
    tier.put("t", D, b"x" * 40)
    assert server.names() == [name(C), name(D)]


def test_two_writers_together_stay_near_the_limit(server):
    writers = [ObjectTier(URL, limit_bytes=3200, options=server.options) for _ in range(2)]
    for number in range(100):
        writers[number % 2].put("t", f"{number:064x}", b"x" * 50)
    assert writers[0].stats().bytes <= 3200 * (1 + 2 / 32)


def test_making_room_removes_what_has_expired(server):
    tier = ObjectTier(URL, limit_bytes=100, ttl_seconds=60, options=server.options)
    tier.put("t", A, b"x" * 10)
    server.make_older(name(A), 3600)
    tier.put("t", B, b"x" * 10)
    assert server.names() == [name(B)]


@pytest.mark.parametrize("tenant", ["", "..", "T", "a/b"])
def test_a_tenant_that_is_not_spelled_as_one_is_refused_before_anything_is_asked(tenant):
    with answering(200) as (options, asked):
        tier = ObjectTier(URL, options=options)
        for call in (tier.get, tier.delete, lambda t, k: tier.put(t, k, b"")):
            with pytest.raises(BadName):
                call(tenant, A)
        for call in (tier.contains, tier.sizes, lambda t, k: tier.lease(t, k, "reader", 1)):
            with pytest.raises(BadName):
                call(tenant, [A])
    assert asked == []


def test_a_killed_server_costs_one_failure_and_is_found_again_when_it_is_back(server):
    now = 0.0
    tier = ObjectTier(URL, pause_seconds=5, options=server.options, monotonic=lambda: now)
    tier.put("t", A, b"x")
    server.stop()
    try:
        for call in calls(tier):
            with pytest.raises(TierDown, match="does not answer") as caught:
                call()
            assert "PREREAD_KV_OBJECT_URL" in caught.value.hint
            with pytest.raises(TierDown, match="a moment ago"):
                call()
            now += 60
    finally:
        server.start_again()
    now -= 1
    with pytest.raises(TierDown, match="a moment ago"):
        tier.get("t", A)
    now += 1
    assert tier.get("t", A) == b"x"
    assert tier.contains("t", [A, B]) == {A}


def test_a_bucket_that_does_not_exist_is_a_tier_that_is_down(server):
    for call in calls(ObjectTier("s3://another/prefix", options=server.options)):
        with pytest.raises(TierDown, match="no such bucket") as caught:
            call()
        assert "PREREAD_KV_OBJECT_URL" in caught.value.hint


def test_refused_credentials_are_told_and_do_not_pause_the_tier(server, tier):
    tier.put("t", A, b"x")
    server.let_in(False)
    try:
        for call in calls(tier):
            with pytest.raises(TierDown, match=r"refuses access: Server returned .* 403") as caught:
                call()
            assert "PREREAD_KV_OBJECT_URL" in caught.value.hint
    finally:
        server.let_in(True)
    assert tier.get("t", A) == b"x"


def test_a_silent_store_is_given_up_after_the_timeout():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(64)
        tier = ObjectTier(URL, timeout_seconds=0.2, options=at(silent.getsockname()[1]))
        with pytest.raises(TierDown, match="does not answer in time") as caught:
            tier.contains("t", [A, B])
        assert "PREREAD_KV_OBJECT_URL" in caught.value.hint
        with pytest.raises(TierDown, match="a moment ago"):
            tier.get("t", A)


def test_a_failing_store_is_asked_twice_and_then_left_alone():
    with answering(500) as (options, asked):
        tier = ObjectTier(URL, timeout_seconds=60, options=options)
        with pytest.raises(TierDown, match=r"does not answer: .* 500"):
            tier.get("t", A)
        assert asked == ["GET", "GET"]
        with pytest.raises(TierDown, match="a moment ago"):
            tier.get("t", A)
        assert len(asked) == 2


def test_many_keys_do_not_ask_a_failing_store_many_times():
    with answering(500) as (options, asked):
        tier = ObjectTier(URL, timeout_seconds=60, options=options)
        with pytest.raises(TierDown):
            tier.sizes("t", [f"{number:064x}" for number in range(300)])
        assert len(asked) <= 2 * 32


def test_an_answer_cut_short_is_no_answer():
    with answering(200, b"half", length=8) as (options, _):
        tier = ObjectTier(URL, timeout_seconds=2, options=options)
        with pytest.raises(TierDown, match="does not answer"):
            tier.get("t", A)


def test_a_bad_request_is_told_and_does_not_pause_the_tier():
    with answering(400, b"<Code>Odd</Code>") as (options, asked):
        tier = ObjectTier(URL, options=options)
        for _ in range(2):
            with pytest.raises(TierDown, match=r"refuses: .* 400 .*Odd"):
                tier.get("t", A)
        assert len(asked) == 2


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("", {}),
        ("bucket", {}),
        ("file:///tmp", {}),
        ("https://example.org/bucket", {}),
        ("s3://", {}),
        ("az://container/prefix", {}),
        (URL, {"aws_no_such_option": "1"}),
    ],
)
def test_an_address_that_cannot_be_used_is_told_at_once(url, options, monkeypatch):
    monkeypatch.delenv("AZURE_STORAGE_ACCOUNT_NAME", raising=False)
    with pytest.raises(TierDown) as caught:
        ObjectTier(url, options=options)
    assert "PREREAD_KV_OBJECT_URL" in caught.value.hint


@pytest.mark.parametrize(
    ("url", "endpoint", "rest"),
    [
        ("gs://bucket/prefix", "google_base_url", {"google_skip_signature": "true"}),
        (
            "az://container/prefix",
            "azure_endpoint",
            {"azure_storage_account_name": "account", "azure_storage_account_key": "a2V5"},
        ),
    ],
)
def test_the_other_clouds_fail_in_the_same_words(url, endpoint, rest):
    allowed = {"azure_allow_http": "true", **rest}
    with answering(503) as (options, asked):
        tier = ObjectTier(url, timeout_seconds=60, options={endpoint: options["aws_endpoint_url"], **allowed})
        with pytest.raises(TierDown, match=r"does not answer: .* 503"):
            tier.get("t", A)
        assert asked == ["GET", "GET"]
    with answering(403) as (options, _):
        tier = ObjectTier(url, options={endpoint: options["aws_endpoint_url"], **allowed})
        with pytest.raises(TierDown, match="refuses access"):
            tier.get("t", A)


def test_age_is_told_by_the_given_clock():
    put_at = datetime(2026, 12, 1, tzinfo=UTC).timestamp()  # the Last-Modified of every answer
    with answering(200, b"x") as (options, _):
        tier = ObjectTier(URL, ttl_seconds=60, options=options, clock=lambda: put_at + 60)
        assert tier.get("t", A) == b"x"
        assert tier.sizes("t", [A]) == {A: 1}
