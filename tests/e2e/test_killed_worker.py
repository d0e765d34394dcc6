"""kill -9 of the worker, parent and children, in the middle of pre-reading: nothing is lost, little repeated."""

from contextlib import suppress

import psutil
import pytest
from kv_folder import BOTH
from preread_client import handbook_page
from waiting import wait_until

PAGES = (
    "communication.md", "company-vehicles.md", "customer-support.md", "field-work.md", "fire-safety.md",
    "first-aid.md", "glossary.md",
)  # fmt: skip


@pytest.fixture
def documents(client):
    added = [client.add(name, handbook_page(name)) for name in PAGES]
    yield added
    client.stack.mend()
    for document_id in added:
        client.delete(document_id)


def test_a_worker_killed_while_pre_reading_loses_nothing_and_repeats_nothing(client, kv, documents):
    before = kv.inodes()

    def under_way():
        read = [document_id for document_id in documents if client.document(document_id)["state"] == "preread"]
        return len(kv.inodes()) > len(before) + 3 and len(read) < len(documents) - 3

    wait_until(under_way, "some chunks are pre-read and most are not")
    killed = client.stack.worker()
    assert len(killed) > 1
    for process in killed:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    stored = kv.inodes()

    client.wait_until_preread(documents, 600)
    assert not {process.pid for process in killed} & {process.pid for process in client.stack.worker()}
    for document_id in documents:
        chunks = kv.chunks(document_id)
        assert client.vectors(document_id) == len(chunks)
        assert all(kv.readings(chunk) == BOTH for chunk in chunks)
        shown = client.document(document_id)
        assert shown["chunks"] == shown["chunks_ready"] == len(chunks)
    assert {name: inode for name, inode in kv.inodes().items() if name in stored} == stored
