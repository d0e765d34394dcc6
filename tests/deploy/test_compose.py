import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from compose_rules import ENGINES, FILE, RULES, SECRETS, Compose, Rule, interpolate, load

Change = Callable[[dict[str, Any]], Any]


@pytest.fixture(scope="module")
def compose() -> Compose:
    return load()


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_compose_file_keeps_every_rule(compose, rule: Rule) -> None:
    assert list(rule(compose)) == []


def _drop(service: str, *keys: str) -> Change:
    def change(services: dict[str, Any]) -> None:
        inner = services[service]
        for key in keys[:-1]:
            inner = inner[key]
        del inner[keys[-1]]

    return change


def _set(service: str, *path: Any) -> Change:
    *keys, last, value = path

    def change(services: dict[str, Any]) -> None:
        inner = services[service]
        for key in keys:
            inner = inner[key]
        inner[last] = value

    return change


BREAKS: list[tuple[str, Change]] = [
    ("all_services_are_there", lambda services: services.pop("qdrant")),
    ("all_services_are_there", lambda services: services.update(extra={})),
    ("one_engine_for_each_profile", _drop("engine-gpu", "profiles")),
    ("one_engine_for_each_profile", _set("web", "profiles", ["cpu"])),
    ("one_engine_for_each_profile", _set("engine-cpu", "networks", "default", {"aliases": ["motor"]})),
    ("one_engine_for_each_profile", _drop("engine-gpu", "deploy")),
    ("one_engine_for_each_profile", _set("worker", "networks", ["stores"])),
    ("every_service_has_a_health_check", _drop("beat", "healthcheck")),
    ("every_service_has_a_health_check", _drop("postgres", "healthcheck", "start_period")),
    ("every_service_has_a_health_check", _set("redis-kv", "healthcheck", "test", ["redis-cli", "ping"])),
    ("every_service_has_a_health_check", _set("qdrant", "healthcheck", "test", ["CMD", "curl", "-f", "localhost"])),
    ("our_health_checks_can_run", _set("worker", "healthcheck", "test", ["CMD-SHELL", "celery --app x inspekt ping"])),
    ("our_health_checks_can_run", _set("worker", "healthcheck", "test", ["CMD-SHELL", "celery --app x inspect --z"])),
    ("our_health_checks_can_run", _set("web", "healthcheck", "test", ["CMD", "pg_isready"])),
    ("our_health_checks_can_run", _set("web", "environment", "PREREAD_PORT", "8200")),
    ("our_commands_exist", _set("worker", "command", ["preread", "work"])),
    ("our_commands_exist", _set("worker", "command", ["preread", "worker", "--fast"])),
    ("our_commands_exist", _set("beat", "command", ["preread", "worker"])),
    ("our_commands_exist", _set("beat", "command", ["celery", "beat"])),
    ("our_commands_exist", _drop("web", "command")),
    ("settings_are_real", _set("web", "environment", "PREREAD_PORTT", "8100")),
    ("settings_are_real", _set("web", "environment", "PREREAD_PORT", "many")),
    ("every_setting_arrives", _drop("worker", "environment", "PREREAD_CHUNK_TOKENS")),
    ("every_setting_arrives", lambda services: [s["environment"].pop("PREREAD_DTYPE", 0) for s in _ours(services)]),
    ("scaled_mode_is_whole", _drop("worker", "environment", "PREREAD_QDRANT_URL")),
    ("scaled_mode_is_whole", _set("web", "environment", "PREREAD_REDIS_URL", "redis://localhost:6379/0")),
    ("scaled_mode_is_whole", _set("engine-cpu", "environment", "PREREAD_ENGINE_HOST", "127.0.0.1")),
    ("scaled_mode_is_whole", _set("web", "environment", "PREREAD_DATABASE_URL", "sqlite:////var/lib/preread/x.db")),
    ("no_secret_is_written_here", _set("postgres", "environment", "POSTGRES_PASSWORD", "preread")),
    ("no_secret_is_written_here", _set("postgres", "environment", "POSTGRES_PASSWORD", "${POSTGRES_PASSWORD:-x}")),
    ("no_secret_is_written_here", _set("web", "environment", "PREREAD_INTERNAL_SECRET", "${PREREAD_INTERNAL_SECRET}")),
    ("no_secret_is_written_here", _set("web", "environment", "PREREAD_DATABASE_URL", "postgresql://preread:pw@postgres/x")),
    ("engines_get_no_secret", _set("engine-gpu", "environment", "X", "${POSTGRES_PASSWORD:?openssl rand}")),
    ("images_are_pinned", _set("qdrant", "image", "qdrant/qdrant:latest")),
    ("images_are_pinned", _set("qdrant", "image", "qdrant/qdrant")),
    ("images_are_pinned", _drop("web", "image")),
    ("only_web_is_published_and_on_loopback", _set("postgres", "ports", ["127.0.0.1:5432:5432"])),
    ("only_web_is_published_and_on_loopback", _set("web", "ports", ["8100:8100"])),
    ("only_web_is_published_and_on_loopback", _set("web", "ports", ["${PREREAD_HOST:-0.0.0.0}:8100:8100"])),
    ("only_web_is_published_and_on_loopback", _set("redis-kv", "networks", ["default"])),
    ("only_web_is_published_and_on_loopback", _set("redis-kv", "network_mode", "host")),
    ("dependencies_are_healthy_services", _set("web", "depends_on", "database", {"condition": "service_healthy"})),
    ("dependencies_are_healthy_services", _set("web", "depends_on", "postgres", {"condition": "service_started"})),
    ("dependencies_are_healthy_services", _set("web", "depends_on", "engine-cpu", {"condition": "service_healthy"})),
    ("dependencies_are_healthy_services", _set("postgres", "networks", ["elsewhere"])),
    ("dependencies_are_healthy_services", _drop("worker", "depends_on", "web")),
    ("what_must_be_shared_is", _drop("web", "volumes")),
    ("what_must_be_shared_is", _set("engine-cpu", "volumes", ["kv:/var/lib/preread/kv"])),
    ("what_must_be_shared_is", _set("qdrant", "volumes", ["vectors:/qdrant/storage"])),
    ("redis_is_set_up_for_its_use", _set("redis-queue", "command", 6, "allkeys-lru")),
    ("redis_is_set_up_for_its_use", _set("redis-kv", "command", ["redis-server"])),
    ("our_containers_are_confined", _set("web", "read_only", False)),
    ("our_containers_are_confined", _drop("worker", "cap_drop")),
    ("our_containers_are_confined", _drop("engine-gpu", "security_opt")),
    ("our_containers_are_confined", _set("beat", "user", "root")),
    ("web_has_time_to_end", _set("web", "stop_grace_period", "14s")),
    ("web_has_time_to_end", _drop("web", "stop_grace_period")),
]  # fmt: skip


def _ours(services: dict[str, Any]) -> list[dict[str, Any]]:
    return [service for service in services.values() if "build" in service]


@pytest.mark.parametrize(("rule", "change"), BREAKS)
def test_every_rule_notices_when_it_is_broken(rule: str, change: Change) -> None:
    broken = load_unshared()
    change(broken["services"])
    assert list(next(known for known in RULES if known.__name__ == rule)(broken))


def load_unshared() -> Compose:
    """YAML anchors make services share objects; here a change to one leaves the others alone."""

    def copied(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: copied(inner) for key, inner in value.items()}
        return [copied(inner) for inner in value] if isinstance(value, list) else value

    unshared: Compose = copied(load())
    return unshared


def test_every_rule_has_been_broken_once() -> None:
    assert {rule for rule, _ in BREAKS} == {rule.__name__ for rule in RULES}


def test_no_file_of_settings_reaches_a_container_whole(compose) -> None:
    assert [name for name, service in compose["services"].items() if "env_file" in service] == []


@pytest.mark.parametrize("secret", SECRETS)
def test_without_a_secret_compose_stops_and_says_how_to_make_one(secret) -> None:
    others = {name: value for name, value in SECRETS.items() if name != secret}
    with pytest.raises(KeyError, match=secret):
        interpolate(FILE.read_text(), others)


def test_both_engines_differ_only_where_they_must(compose) -> None:
    cpu, gpu = (dict(compose["services"][name]) for name in ENGINES)
    differing = {key for key in cpu.keys() | gpu.keys() if cpu.get(key) != gpu.get(key)}
    assert differing == {"profiles", "image", "build", "cap_add", "deploy"}


@pytest.fixture
def qdrant() -> Iterator[HTTPServer]:
    """Answers `/readyz` with `server.status`, as Qdrant does."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(self.server.status if self.path == "/readyz" else 404)
            self.end_headers()
            self.wfile.write(b"all shards are ready")

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("status", "healthy"), [(200, True), (503, False)])
def test_qdrants_health_check_reads_the_status_with_bash_alone(compose, qdrant, status, healthy) -> None:
    qdrant.status = status
    assert _check(compose, qdrant.server_port) is healthy


def test_qdrants_health_check_fails_where_nothing_listens(compose, qdrant) -> None:
    port = qdrant.server_port
    qdrant.shutdown()
    qdrant.socket.close()
    assert not _check(compose, port)


def _check(compose: Compose, port: int) -> bool:
    _, *words = compose["services"]["qdrant"]["healthcheck"]["test"]
    command = [interpolate(word, {}).replace("/6333", f"/{port}") for word in words]
    return subprocess.run(command, check=False, timeout=10, capture_output=True).returncode == 0
