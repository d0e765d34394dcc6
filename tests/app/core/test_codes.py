"""Every error has a code of its own, from one enum, and no code is left over."""

import ast
import re
from collections import Counter
from pathlib import Path

from app.core.codes import Code
from app.core.remedies import REMEDIES

ROOT = Path(__file__).parents[3]
ROOMS = ("app", "workers", "retrieval", "generator", "kvstore", "kernels", "benchmarks")
SOURCES = [path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py"))]


def errors() -> dict[str, ast.ClassDef]:
    """Every class below PrereadError, by file and name. By what is written: not all of it can be imported here."""
    classes = [
        (path, node)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    ]
    known = {"PrereadError"}
    found: dict[str, ast.ClassDef] = {}
    while True:
        new = {
            f"{path.relative_to(ROOT)}: {node.name}": node
            for path, node in classes
            if node.name in known or known & {ast.unparse(base).split(".")[-1] for base in node.bases}
        }
        if new.keys() == found.keys():
            return new
        found, known = new, known | {node.name for node in new.values()}


def code_of(error: ast.ClassDef) -> str | None:
    for statement in error.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            target = statement.target if isinstance(statement, ast.AnnAssign) else statement.targets[0]
            if ast.unparse(target) == "code":
                return ast.unparse(statement.value)
    return None


def test_every_error_has_a_code_of_its_own() -> None:
    codes = {name: code_of(error) for name, error in errors().items()}
    assert len(codes) > 60
    members = {f"Code.{code.name}" for code in Code}
    assert {name: code for name, code in codes.items() if code not in members} == {}
    assert [code for code, times in Counter(codes.values()).items() if times > 1] == []


def test_every_code_is_used() -> None:
    lists = {ROOT / "app/core/codes.py", ROOT / "app/core/remedies.py"}
    used = {
        name for path in SOURCES if path not in lists for name in re.findall(r"\bCode\.([A-Z_]+)", path.read_text())
    }
    assert {code.name for code in Code} - used == set()


def test_a_code_is_spelled_as_its_name_and_means_something() -> None:
    for code in Code:
        assert code == code.name.lower()
        assert code.meaning.endswith(".")
        assert REMEDIES.get(code, "Do.").endswith(".")


def test_a_code_is_found_by_its_text() -> None:
    assert Code("document_not_found") is Code.DOCUMENT_NOT_FOUND
    assert f"{Code.TOO_LARGE}" == "too_large"
