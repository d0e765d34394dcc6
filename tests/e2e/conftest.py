"""One stack for all these tests, all real: vLLM and the packaged model, Redis, worker, beat, web, Qdrant, SQLite."""

from pathlib import Path

import pytest
from kv_folder import KvFolder
from preread_client import PrereadClient, handbook_page
from running_stack import RunningStack, small_settings

PAGES = ("expenses.md", "holidays.md", "sick-leave.md")


def pytest_collection_modifyitems(items):
    """The stack is stopped by the last of its tests, which says how it must end."""
    places = [place for place, item in enumerate(items) if item.path.parent == Path(__file__).parent]
    ordered = sorted((items[place] for place in places), key=lambda item: item.path.name == "test_shutdown.py")
    for place, item in zip(places, ordered, strict=True):
        items[place] = item


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    if report.failed and "stack" in getattr(item, "funcargs", {}):
        report.sections.append(("logs of the stack", item.funcargs["stack"].logs()))
    return report


@pytest.fixture(scope="session")
def stack(tmp_path_factory):
    folder = tmp_path_factory.mktemp("stack")
    stack = RunningStack(folder, small_settings(folder))
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
