"""What must hold for docker-compose.yml. Each rule returns the faults it finds in a parsed file."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import typer
import yaml
from pydantic import ValidationError
from typer.core import TyperGroup
from typer.exceptions import TyperException

from app.cli.main import cli
from app.core.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
FILE = ROOT / "docker-compose.yml"

Compose = dict[str, Any]
Rule = Callable[[Compose], Iterator[str]]

ENGINES = {"engine-cpu": "cpu", "engine-gpu": "gpu"}
OURS = {"web", "worker", "beat", *ENGINES}
STORES = {"redis-queue", "redis-kv", "qdrant", "postgres"}
SECRETS = {"POSTGRES_PASSWORD": "0" * 64, "PREREAD_INTERNAL_SECRET": "1" * 64}
# Only `preread up` waits for an engine by itself.
EMBEDDED_ONLY = {"engine_start_seconds", "api_key"}

_VARIABLE = re.compile(r"\$(?:(?P<dollar>\$)|\{(?P<name>\w+)(?::(?P<kind>[-?])(?P<rest>[^}]*))?\})")
_REQUIRED = re.compile(r"\$\{\w+:\?[^}]*openssl rand[^}]*\}")
_SECRET_NAME = re.compile(r"PASSWORD|SECRET|TOKEN$|API_KEY")
_PASSWORD_IN_URL = re.compile(r"://[^/@:]*:(?P<password>.+)@")
_TAG = re.compile(r"[^:@]+:(?P<tag>[^:@/]*\d[^:@/]*)")


def load() -> Compose:
    """A copy of its own for every caller."""
    loaded: Compose = yaml.safe_load(FILE.read_text())
    return loaded


def interpolate(text: str, variables: dict[str, str]) -> str:
    """`${NAME}`, `${NAME:-default}`, `${NAME:?message}` and `$$`. Raises KeyError for a required one that is unset."""

    def value(match: re.Match[str]) -> str:
        if match["dollar"]:
            return "$"
        if found := variables.get(match["name"]):
            return found
        if match["kind"] == "?":
            raise KeyError(match["name"])
        return match["rest"] if match["kind"] == "-" else ""

    return _VARIABLE.sub(value, text)


def ours(compose: Compose) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from ((name, service) for name, service in compose["services"].items() if "build" in service)


def all_services_are_there(compose: Compose) -> Iterator[str]:
    found = set(compose["services"])
    yield from (f"{name} is missing" for name in (OURS | STORES) - found)
    yield from (f"nothing is known of {name}" for name in found - OURS - STORES)


def one_engine_for_each_profile(compose: Compose) -> Iterator[str]:
    for name, service in compose["services"].items():
        expected = [ENGINES[name]] if name in ENGINES else []
        if service.get("profiles", []) != expected:
            yield f"{name} must have the profiles {expected}"
        if name in ENGINES and "engine" not in service["networks"]["default"]["aliases"]:
            yield f"{name} is not reached as `engine`"
        reserved = service.get("deploy", {}).get("resources", {}).get("reservations", {}).get("devices", [])
        if any("gpu" in device["capabilities"] for device in reserved) is not (name == "engine-gpu"):
            yield f"{name}: the GPU belongs to engine-gpu alone"
    for name in ("web", "worker"):
        if "default" not in compose["services"][name]["networks"]:
            yield f"{name} shares no network with the engine"


def every_service_has_a_health_check(compose: Compose) -> Iterator[str]:
    for name, service in compose["services"].items():
        check = service.get("healthcheck", {})
        if not check.keys() >= {"test", "interval", "timeout", "retries", "start_period"}:
            yield f"{name} has no whole health check"
            continue
        kind, *words = check["test"]
        if kind not in ("CMD", "CMD-SHELL") or not words or (kind == "CMD-SHELL" and len(words) != 1):
            yield f"{name}: its health check is not a command"
        if re.search(r"\b(curl|wget)\b", " ".join(words)):
            yield f"{name}: its image has neither curl nor wget"


def our_health_checks_can_run(compose: Compose) -> Iterator[str]:
    for name, service in ours(compose):
        words = service.get("healthcheck", {}).get("test", ["", ""])[1:]
        if words[0].startswith("celery "):
            yield from (f"{name}: {fault}" for fault in _celery_faults(words[0]))
        elif words[:2] != ["python", "deploy/docker/healthy.py"]:
            yield f"{name}: its image cannot run {words}"
        elif words[2] == "answers" and f":{_port(name, service)}/" not in words[3]:
            yield f"{name} does not listen at {words[3]}"


def _port(name: str, service: dict[str, Any]) -> str:
    return str(service["environment"]["PREREAD_ENGINE_PORT" if name in ENGINES else "PREREAD_PORT"])


def _celery_faults(line: str) -> Iterator[str]:
    from celery.bin.celery import celery

    try:
        with celery.make_context("celery", interpolate(line, {}).split()[1:3], resilient_parsing=True) as context:
            name, *arguments = line.split()[3:]
            command = celery.get_command(context, name)
            if command is None:
                yield f"celery has no command {name}"
            else:
                command.make_context(name, arguments, parent=context)
    except click.ClickException as error:
        yield error.format_message()


def command_faults(words: list[str]) -> Iterator[str]:
    """What is wrong with a command line of ours, found without running it."""
    group = typer.main.get_command(cli)
    assert isinstance(group, TyperGroup)
    if len(words) < 2 or words[0] != "preread":
        yield f"{words} is not a `preread` command"
        return
    name, *arguments = words[1:]
    if name not in group.commands:
        yield f"`preread` has no command {name}"
        return
    try:
        group.commands[name].make_context(name, arguments)
    except TyperException as error:
        yield f"preread {name}: {error}"


def our_commands_exist(compose: Compose) -> Iterator[str]:
    for name, service in ours(compose):
        words = service.get("command", [])
        yield from (f"{name}: {fault}" for fault in command_faults(words))
        expected = "engine" if name in ENGINES else name
        if words[1:2] != [expected]:
            yield f"{name} must run `preread {expected}`"


def settings_are_real(compose: Compose) -> Iterator[str]:
    for name, service in ours(compose):
        given = _settings_of(service)
        yield from (f"{name}: PREREAD_{field.upper()} is no setting" for field in given if not _is_setting(field))
        values = {field: interpolate(str(value), SECRETS) for field, value in given.items() if value is not None}
        try:
            Settings(_env_file=None, **{field: value for field, value in values.items() if _is_setting(field)})
        except ValidationError as error:
            yield f"{name}: {error}"


def every_setting_arrives(compose: Compose) -> Iterator[str]:
    """A setting in `.env` that no container gets would be ignored without a word."""
    given = {field for _, service in ours(compose) for field in _settings_of(service)}
    yield from (f"{field} reaches no service" for field in Settings.model_fields if field not in given | EMBEDDED_ONLY)
    tunings = {name: {f for f, v in _settings_of(service).items() if v is None} for name, service in ours(compose)}
    for name, fields in tunings.items():
        if fields != tunings["web"]:
            yield f"{name} and web differ in {fields ^ tunings['web']}"


def _settings_of(service: dict[str, Any]) -> dict[str, Any]:
    prefix = "PREREAD_"
    return {
        key.removeprefix(prefix).lower(): value
        for key, value in service.get("environment", {}).items()
        if key.startswith(prefix)
    }


def _is_setting(field: str) -> bool:
    return field in Settings.model_fields


def scaled_mode_is_whole(compose: Compose) -> Iterator[str]:
    """No service of ours falls back to an embedded part, and every address is a service's."""
    names = set(compose["services"]) | {"engine"}
    wanted = {
        "web": {"database_url", "redis_url", "kv_redis_url", "qdrant_url", "engine_url", "internal_secret"},
        "worker": {"database_url", "redis_url", "kv_redis_url", "qdrant_url", "engine_url", "internal_secret"},
        "beat": {"redis_url"},
        **{engine: {"kv_redis_url"} for engine in ENGINES},
    }
    for name, fields in wanted.items():
        given = _settings_of(compose["services"].get(name, {}))
        yield from (f"{name}: {field} is not set" for field in fields if not given.get(field))
        for field, value in given.items():
            host = re.search(r"://(?:[^@/]*@)?([^:/]+)", interpolate(str(value), SECRETS))
            if host and host[1] not in names:
                yield f"{name}: {field} points at {host[1]}, which is no service"
    for name, field in {"web": "host", **dict.fromkeys(ENGINES, "engine_host")}.items():
        if _settings_of(compose["services"].get(name, {})).get(field) != "0.0.0.0":
            yield f"{name} listens where nobody reaches it"
    database = str(_settings_of(compose["services"]["web"]).get("database_url"))
    if not database.startswith("postgresql+psycopg://"):
        yield "web: the database is not Postgres through psycopg"


def no_secret_is_written_here(compose: Compose) -> Iterator[str]:
    for name, service in compose["services"].items():
        for key, value in service.get("environment", {}).items():
            password = _PASSWORD_IN_URL.search(str(value))
            if _SECRET_NAME.search(key) and value is not None and not _REQUIRED.fullmatch(str(value)):
                yield f"{name}: {key} must be required, with a word on how to make one"
            if password and not _REQUIRED.fullmatch(password["password"]):
                yield f"{name}: {key} carries a password that is not required from outside"


def engines_get_no_secret(compose: Compose) -> Iterator[str]:
    for name in ENGINES:
        text = str(compose["services"].get(name, {}).get("environment"))
        yield from (f"{name} is given {secret}" for secret in SECRETS if secret in text)


def images_are_pinned(compose: Compose) -> Iterator[str]:
    for name, service in compose["services"].items():
        image = service.get("image", "")
        if not _TAG.fullmatch(image) or "latest" in image:
            yield f"{name}: {image!r} names no version"


def only_web_is_published_and_on_loopback(compose: Compose) -> Iterator[str]:
    for name, service in compose["services"].items():
        ports = service.get("ports", [])
        if (name == "web") is not bool(ports):
            yield f"{name}: only web publishes a port"
        for port in ports:
            if not interpolate(str(port), {}).startswith("127.0.0.1:"):
                yield f"{name}: {port} is not bound to loopback by default"
        if service.get("network_mode"):
            yield f"{name} has no network of its own"
    if not compose["networks"]["stores"]["internal"]:
        yield "the stores' network leads outside"
    for name in STORES & set(compose["services"]):
        if list(compose["services"][name]["networks"]) != ["stores"]:
            yield f"{name} is on more than the stores' network"


def dependencies_are_healthy_services(compose: Compose) -> Iterator[str]:
    services = compose["services"]
    for name, service in services.items():
        for other, how in service.get("depends_on", {}).items():
            if other not in services:
                yield f"{name} depends on {other}, which is not there"
                continue
            if how.get("condition") != "service_healthy":
                yield f"{name} does not wait until {other} is healthy"
            if services[other].get("profiles") and how.get("required", True):
                yield f"{name} depends on {other}, which one profile alone has"
            if not set(service["networks"]) & set(services[other]["networks"]):
                yield f"{name} cannot reach {other}"
    if "web" not in services["worker"].get("depends_on", {}):
        yield "worker does not wait for web, which migrates the database"


def what_must_be_shared_is(compose: Compose) -> Iterator[str]:
    places = {
        "kv": ("/var/lib/preread/kv", {"web", "worker", *ENGINES}),
        "staging": ("/var/lib/preread/staging", {"web", "worker", *ENGINES}),
        "files": ("/var/lib/preread/files", {"web", "worker"}),
        "beat": ("/var/lib/preread/run", {"beat"}),
    }
    for volume, (place, users) in places.items():
        mounted = {name for name, s in compose["services"].items() if f"{volume}:{place}" in s.get("volumes", [])}
        yield from (f"{name} does not have {volume} at {place}" for name in users - mounted)
    used = {v.split(":")[0] for s in compose["services"].values() for v in s.get("volumes", [])}
    yield from (f"the volume {name} is not declared, or not used" for name in used ^ set(compose["volumes"]))


def redis_is_set_up_for_its_use(compose: Compose) -> Iterator[str]:
    wanted = {
        "redis-queue": {"--appendonly": "yes", "--maxmemory-policy": "noeviction"},
        "redis-kv": {"--appendonly": "no", "--save": "", "--maxmemory-policy": "volatile-lru"},
    }
    for name, options in wanted.items():
        words = compose["services"].get(name, {}).get("command", [])
        given = dict(zip(words[1::2], words[2::2], strict=False))
        yield from (f"{name}: {key} must be {value!r}" for key, value in options.items() if given.get(key) != value)
        if "--maxmemory" not in given:
            yield f"{name} has no memory limit"


def our_containers_are_confined(compose: Compose) -> Iterator[str]:
    for name, service in ours(compose):
        if not (service.get("init") and service.get("read_only") and service.get("cap_drop") == ["ALL"]):
            yield f"{name} must have an init, a read-only root and no capabilities"
        if "no-new-privileges:true" not in service.get("security_opt", []):
            yield f"{name} may gain privileges"
        if service.get("privileged") or service.get("user") in ("root", "0"):
            yield f"{name} runs as root"


RULES: tuple[Rule, ...] = (
    all_services_are_there,
    one_engine_for_each_profile,
    every_service_has_a_health_check,
    our_health_checks_can_run,
    our_commands_exist,
    settings_are_real,
    every_setting_arrives,
    scaled_mode_is_whole,
    no_secret_is_written_here,
    engines_get_no_secret,
    images_are_pinned,
    only_web_is_published_and_on_loopback,
    dependencies_are_healthy_services,
    what_must_be_shared_is,
    redis_is_set_up_for_its_use,
    our_containers_are_confined,
)
