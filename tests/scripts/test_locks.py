import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = ROOT / "requirements"
MISMATCHED = {"torchvision", "torchaudio", "torchcodec"}


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked(name: str) -> dict[str, str]:
    """Package → version."""
    found = re.findall(r"^([A-Za-z0-9._-]+)==(\S+)", (LOCKS / name).read_text(), re.MULTILINE)
    return {plain(package): version for package, version in found}


@pytest.fixture
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def wanted(requirements: list[str]) -> set[str]:
    return {plain(re.match(r"[A-Za-z0-9._-]+", requirement).group()) for requirement in requirements}


def test_every_dependency_of_the_project_is_locked(project) -> None:
    extras = project["optional-dependencies"]
    runtime = {**locked("cpu.lock"), **locked("torch.lock"), **locked("redis.lock")}
    assert wanted([*project["dependencies"], *extras["cpu"]]) - set(runtime) == set()
    assert wanted(extras["dev"]) - {*runtime, *locked("dev.lock"), *locked("node.lock")} == set()


def test_builds_that_do_not_match_torch_are_in_no_lock() -> None:
    assert [lock.name for lock in LOCKS.glob("*.lock") if MISMATCHED & set(locked(lock.name))] == []


@pytest.mark.parametrize("lock", sorted(path.name for path in LOCKS.glob("*.lock") if path.name != "torch.lock"))
def test_every_pin_has_a_hash(lock) -> None:
    text = (LOCKS / lock).read_text()
    assert locked(lock)
    for entry in re.split(r"\n(?=[a-zA-Z])", text):
        assert "==" not in entry or "--hash=sha256:" in entry


def test_no_package_is_locked_twice() -> None:
    assert set(locked("cpu.lock")) & set(locked("dev.lock")) == set()
