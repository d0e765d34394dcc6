"""Two stacks for all these tests, one after the other, all real: vLLM, the packaged model, Redis, workers, web, Qdrant.

`embedded` is `preread up`. `scaled` has Postgres (it is run where that is installed), two webs, and two workers with an
engine each; requests go to the webs in turn. `-k embedded` or `-k scaled` runs one. A test of one shape alone says so:
`pytest.mark.shape("scaled")`.
"""

from pathlib import Path

import pytest
from kv_folder import KvFolder
from preread_client import PrereadClient, handbook_page
from private_postgres import postgres_programs
from running_stack import RunningStack
from scaled_stack import ScaledStack
from stack import small_settings

SHAPES = ("embedded", "scaled") if postgres_programs() else ("embedded",)
PAGES = ("expenses.md", "holidays.md", "sick-leave.md")


def pytest_collection_modifyitems(items):
    """A stack is stopped by the last of its tests, which says how it must end, before the next one starts."""
    ours = [item for item in items if item.path.parent == Path(__file__).parent and _has_its_shape(item)]
    others = [item for item in items if item.path.parent != Path(__file__).parent]
    for item in ours:
        if _shape(item) == "scaled" and item.path.name == "test_killed_worker.py":
            item.add_marker(pytest.mark.long)
    ours.sort(key=lambda item: (SHAPES.index(_shape(item)), item.path.name == "test_shutdown.py"))
    items[:] = [*others, *ours]


def _shape(item):
    return item.callspec.params["stack"]


def _has_its_shape(item):
    mark = item.get_closest_marker("shape")
    return mark is None or _shape(item) in mark.args


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.failed and "stack" in getattr(item, "funcargs", {}):
        report.sections.append(("logs of the stack", item.funcargs["stack"].logs()))
    return report


@pytest.fixture(scope="session", params=SHAPES)
def stack(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    stack = RunningStack(folder, small_settings(folder)) if request.param == "embedded" else ScaledStack(folder)
    stack.start()
    yield stack
    stack.stop()


@pytest.fixture(scope="session")
def client(stack):
    client = PrereadClient(stack)
    yield client
    client.close()


@pytest.fixture(scope="session")
def kv(client):
    kv = KvFolder(client)
    yield kv
    kv.close()


@pytest.fixture(scope="session")
def handbook(client):
    """Three pre-read pages: their ids by file name."""
    ids = {name: client.add(name, handbook_page(name)) for name in PAGES}
    client.wait_until_preread(list(ids.values()))
    return ids


@pytest.fixture
def temporary(client):
    """Adds documents that are deleted after the test."""
    added: list[str] = []

    def add(name: str, text: str) -> str:
        added.append(client.add_preread(name, text))
        return added[-1]

    yield add
    present = {item["id"] for item in client.http.get("/documents", params={"limit": 500}).json()["items"]}
    for document_id in present.intersection(added):
        client.delete(document_id)
