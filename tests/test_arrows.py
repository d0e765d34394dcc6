"""Imports point one way: app.web, app.cli → workers → {retrieval, generator} → kvstore → kernels."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORE = {"app.core"}
ALLOWED = {
    "kernels": CORE,
    "kvstore": CORE | {"kernels"},
    "retrieval": CORE | {"kvstore", "kernels"},
    "generator": CORE | {"kvstore", "kernels"},
    "workers": CORE | {"retrieval", "generator", "kvstore", "kernels"},
    "app/core": set(),
    "app/web": CORE | {"workers", "retrieval", "generator", "kvstore", "kernels"},
    "app/cli": CORE | {"app.web", "workers", "retrieval", "generator", "kvstore", "kernels", "benchmarks"},
}
OURS = {"app", "kernels", "kvstore", "retrieval", "generator", "workers", "benchmarks"}


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def room_of(module: str) -> str:
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "app" else parts[0]


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_a_room_imports_only_what_lies_below_it(room: str) -> None:
    own = room.replace("/", ".")
    wrong = [
        f"{path.relative_to(ROOT)} imports {module}"
        for path in (ROOT / room).rglob("*.py")
        for module in imports(path)
        if module.split(".")[0] in OURS and room_of(module) not in ALLOWED[room] | {own}
    ]
    assert not wrong


def test_only_the_engines_side_of_the_generator_imports_vllm() -> None:
    engine_side = ROOT / "generator" / "vllm"
    wrong = [
        str(path.relative_to(ROOT))
        for room in OURS
        for path in (ROOT / room).rglob("*.py")
        if not path.is_relative_to(engine_side)
        and any(module.split(".")[0] == "vllm" or module.startswith("generator.vllm") for module in imports(path))
    ]
    assert not wrong


def test_no_file_is_longer_than_400_lines() -> None:
    sources = [path for room in OURS | {"tests"} for path in (ROOT / room).rglob("*.py")]
    assert not [str(path.relative_to(ROOT)) for path in sources if len(path.read_text().splitlines()) > 400]
