from pathlib import Path

import pytest
from hypothesis import settings

# The machine that runs the tests may be busy: how long an example took says nothing.
settings.register_profile("no-deadline", deadline=None)
settings.load_profile("no-deadline")

_ALONE = ("benchmarks", "e2e")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    folder = Path(__file__).parent
    for item in items:
        if item.path.relative_to(folder).parts[0] in _ALONE:
            item.add_marker(pytest.mark.alone)
