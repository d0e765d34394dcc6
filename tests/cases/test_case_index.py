"""README.md names tests that exist, and every test module of this folder."""

import ast
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
NAMED = re.findall(r"`((?:tests/)?[\w/]+\.py(?:::\w+)?)`", (FOLDER / "README.md").read_text())


@pytest.mark.parametrize("test", NAMED)
def test_a_test_that_is_named_exists(test):
    path, _, name = test.partition("::")
    module = (ROOT if path.startswith("tests/") else FOLDER) / path
    assert module.is_file()
    defined = {
        node.name for node in ast.parse(module.read_text()).body if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }
    assert not name or name in defined


def test_every_module_of_this_folder_is_named():
    modules = {path.name for path in FOLDER.glob("test_*.py")}
    assert modules == {test.partition("::")[0] for test in NAMED if not test.startswith("tests/")}
