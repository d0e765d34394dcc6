"""The machine: the state folder, the model folder, memory and ports."""

import os
import shutil
from pathlib import Path
from tempfile import TemporaryFile

from app.cli.checks.finding import Finding, fail, failed_by, ok, warn
from app.cli.errors import MemoryShort, PortTaken
from app.cli.memory import available_bytes, gib, judge_memory, memory_need
from app.cli.model_folder import known_folder
from app.cli.ports import require_port
from app.cli.stack import answers
from app.cli.state_lock import holder_of
from app.core.settings import PACKAGED_MODEL, Settings

_LOW_BYTES = 2**30
_WEIGHTS = ("*.safetensors", "*.bin")


def check_state_folder(settings: Settings) -> Finding:
    name, folder = "state folder", settings.state_dir
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    if not existing.is_dir():
        return fail(name, f"{existing} is a file.", "Set PREREAD_STATE_DIR to a folder.")
    try:
        with TemporaryFile(dir=existing):
            free = shutil.disk_usage(existing).free
    except OSError as error:
        return fail(name, f"{folder} cannot be written to: {error.strerror}.", f"Let user {os.getuid()} write there.")
    if free < _LOW_BYTES:
        return fail(name, f"{folder} has {gib(free)} left.", "Free some space, or move PREREAD_STATE_DIR.")
    return ok(name, f"{folder}, {gib(free)} free")


def check_model(settings: Settings) -> Finding:
    name, folder = "model", known_folder(settings)
    if folder is not None:
        if not any(any(folder.glob(pattern)) for pattern in _WEIGHTS):
            return fail(name, f"{folder} has no weights ({', '.join(_WEIGHTS)}).", "Fetch the model again.")
        return ok(name, str(folder))
    if settings.model == PACKAGED_MODEL:
        return ok(name, f"{settings.model}, to be unpacked at the first start")
    if Path(settings.model).expanduser().is_dir():
        return fail(name, f"{settings.model} has no config.json.", "PREREAD_MODEL takes a Hugging Face model's folder.")
    return ok(name, f"{settings.model}, from the Hugging Face hub")


def check_memory(settings: Settings) -> Finding:
    name = "memory"
    if settings.engine_url:
        return ok(name, "the engine runs elsewhere")
    if holder_of(settings.state_dir):
        return ok(name, f"Preread is running; {gib(available_bytes())} are free beside it")
    need = memory_need(settings, known_folder(settings) or settings.models_dir)
    try:
        warning = judge_memory(need, available_bytes())
    except MemoryShort as error:
        return failed_by(name, error)
    if warning:
        return warn(name, warning, "Close other programs, or lower PREREAD_ENGINE_KV_GIB.")
    return ok(name, f"{gib(available_bytes())} free, up to {gib(need.total)} needed")


def check_ports(settings: Settings) -> Finding:
    name = "ports"
    if holder_of(settings.state_dir):
        return ok(name, f"{settings.port} and {settings.engine_port}, in use by this Preread")
    if answers(f"{settings.effective_web_url}/healthz"):
        return ok(name, f"{settings.port}, in use by this Preread's web")
    try:
        require_port(settings.host, settings.port, "PREREAD_PORT", wait_seconds=0)
        if not settings.engine_url:
            require_port(settings.engine_host, settings.engine_port, "PREREAD_ENGINE_PORT", wait_seconds=0)
    except PortTaken as error:
        return failed_by(name, error)
    return ok(name, f"{settings.port} and {settings.engine_port} are free")
