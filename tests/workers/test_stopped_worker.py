"""A real worker process that is stopped in the middle of a write while its document is deleted."""

import multiprocessing
import os
import signal
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from staging_engine import FINGERPRINT, StagingEngine
from waiting import wait_until

from app.core.catalog import Catalog
from app.core.settings import Settings
from generator.chat import ModelTokenizer
from generator.model_source import resolve_model
from generator.preamble import build_preamble
from kvstore.codecs.codecs import Codecs
from kvstore.profiles import Profiles
from kvstore.remains import behind_another_passage
from kvstore.store import ChunkStore
from kvstore.tiers.disk import DiskTier
from workers.context import WorkerContext
from workers.deletion import delete_document
from workers.files import DocumentFiles
from workers.ingest import ingest
from workers.pieces import Pieces
from workers.preread import preread
from workers.purge import Purge
from workers.tombstones import IN_FLIGHT
from workers.upkeep import reconcile

TENANT = "default"
TRAVEL = "\n\n".join(f"Rule {n}: whoever travels to town {n} is paid {40 + n} euros a day for meals." for n in range(8))
NOTHING = {"documents": 0, "vectors": 0, "files": 0, "kv": 0, "staged": 0}


class StoppingTier(DiskTier):
    """Stops the process right before the write of one of these keys, when the worker has been allowed it, and right
    after."""

    keys = frozenset()

    def put(self, tenant, key, *more):
        if key not in self.keys:
            super().put(tenant, key, *more)
            return
        self.keys = frozenset()
        os.kill(os.getpid(), signal.SIGSTOP)
        super().put(tenant, key, *more)
        os.kill(os.getpid(), signal.SIGSTOP)


def work(state_dir, document_id, conditioning, keys):
    """What the process does: pre-read the document, and stop at one of these keys."""
    # One at a time, so that it is not stopped in the middle of a transaction, which would lock SQLite for everybody.
    settings = Settings(state_dir=state_dir, chunk_tokens=48, conditioning=conditioning, readings_in_flight=1)
    catalog = Catalog(settings.effective_database_url)
    tokenizer = ModelTokenizer(resolve_model(Settings()))
    tier = StoppingTier(settings.effective_kv_dir, settings.kv_disk_bytes)
    tier.keys = keys
    store = ChunkStore([tier])
    engine = StagingEngine(settings.effective_staging_dir)
    files = DocumentFiles(settings.files_dir)
    context = WorkerContext(
        settings=settings,
        catalog=catalog,
        files=files,
        tokenizer=tokenizer,
        preamble=build_preamble(tokenizer, settings),
        embedder=None,
        index=None,
        store=store,
        engine=engine,
        purge=Purge(catalog, None, store, engine, files, settings.effective_staging_dir),
        waker=None,
        codecs=Codecs(Profiles([])),
    )
    preread(document_id, context)


def is_stopped(pid):
    return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T"


@pytest.fixture
def stopped(context, add):
    """A document, and the process that is stopped while it writes the last reading of its third chunk."""
    processes = []

    def stopped(text=TRAVEL, conditioning="off"):
        document = add("travel.md", text)
        assert ingest(document.id, context)
        own = replace(context, settings=context.settings.model_copy(update={"conditioning": conditioning}))
        readings = 1 if conditioning == "off" else 2
        third = Pieces(own, FINGERPRINT).of(document, document.pending_version_id)[3 * readings - 1]
        process = multiprocessing.get_context("spawn").Process(
            target=work, args=(context.settings.state_dir, document.id, conditioning, {third.identity.key})
        )
        process.start()
        processes.append(process)
        wait_until(lambda: is_stopped(process.pid), "the worker is stopped")
        return document, process

    yield stopped
    for process in processes:
        process.kill()
        process.join()


def written(process):
    """Let the process finish its write; it is stopped again."""
    os.kill(process.pid, signal.SIGCONT)
    wait_until(lambda: is_stopped(process.pid), "the write is done")


def delete(context, document):
    return delete_document(TENANT, document.id, catalog=context.catalog, purge=context.purge, now=datetime.now(UTC))


def test_a_worker_that_goes_on_after_the_deletion_takes_back_what_it_wrote(context, stopped, leftovers):
    document, process = stopped()
    delete(context, document)
    written(process)
    os.kill(process.pid, signal.SIGCONT)
    process.join()
    assert process.exitcode == 0
    assert leftovers()["kv"] == 0
    reconcile(context, set(), datetime.now(UTC) + IN_FLIGHT)
    assert leftovers() == NOTHING


def test_what_a_worker_wrote_that_was_killed_after_the_deletion_is_removed(context, stopped, leftovers):
    document, process = stopped()
    delete(context, document)
    written(process)
    process.kill()
    process.join()
    assert leftovers()["kv"] == 1
    reconcile(context, set(), datetime.now(UTC) + IN_FLIGHT)
    assert leftovers() == NOTHING


def test_what_it_wrote_over_text_that_was_added_again_meanwhile_does_not_stay(context, stopped, add):
    context = replace(context, settings=context.settings.model_copy(update={"conditioning": "document"}))
    tier = DiskTier(context.settings.effective_kv_dir, context.settings.kv_disk_bytes)
    document, process = stopped(f"This stands before everything.\n\n{TRAVEL}", "document")
    delete(context, document)
    again = add("travel.md", f"Something else stands before everything here.\n\n{TRAVEL}")
    assert ingest(again.id, context)
    assert not preread(again.id, context)
    chunks = context.catalog.chunks_of(context.catalog.get_document(TENANT, again.id).current_version_id)
    readings = context.catalog.readings(TENANT, [chunk.ids_hash for chunk in chunks])
    wanted = {reading.key: reading.conditioning_hash for reading in readings}
    assert behind_another_passage(tier, TENANT, wanted) == set()
    written(process)
    process.kill()
    process.join()
    assert len(behind_another_passage(tier, TENANT, wanted)) == 1, "the deleted document's text has shaped it"
    reconcile(context, set(), datetime.now(UTC))
    assert behind_another_passage(tier, TENANT, wanted) == set()
