"""`preread verify --purged`: what is proven of a deleted document, and what is told while it is not."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from kept_document import CHUNKS, TENANT, blob, named
from typer.testing import CliRunner

from app.cli.main import cli
from app.core.catalog import DocumentNotFound
from app.core.settings import get_settings
from generator.engine import EngineClient
from kvstore.key import compact_key
from retrieval.embedding import Embedder
from retrieval.index import IndexedChunk
from retrieval.qdrant_index import QdrantIndex
from workers.context import build_store
from workers.deletion import delete_document
from workers.files import DocumentFiles
from workers.purge import Purge


def verify(*arguments):
    return CliRunner().invoke(cli, ["verify", *arguments])


def told(document_id):
    result = verify("--purged", document_id, "--json")
    found = json.loads(result.stdout)
    assert result.exit_code == (0 if found["proven"] else 1)
    return found


def left(document_id):
    """What is not nothing."""
    return {place["name"]: place["left"] for place in told(document_id)["places"] if place["left"] != 0}


@pytest.fixture
def index(world):
    """Opens the index, which one process at a time may do."""
    model = world.settings.embedding_model
    return lambda: QdrantIndex.open_local(world.settings.qdrant_dir, Embedder(model).dimension, model)


@pytest.fixture
def delete(world, index):
    """Deletes the document; the engine does not run."""

    def delete():
        opened = index()
        settings = world.settings
        purge = Purge(
            world.catalog, opened, build_store(settings), EngineClient(settings.effective_engine_url),
            DocumentFiles(settings.files_dir), settings.effective_staging_dir,
        )  # fmt: skip
        try:
            assert delete_document(
                TENANT, world.document_id, catalog=world.catalog, purge=purge, now=datetime.now(UTC)
            )
        finally:
            opened.close()
        return world.document_id

    return delete


@pytest.fixture
def deleted(world, delete):
    """The document deleted, and the engine has forgotten it too."""
    document_id = delete()
    world.catalog.engine_asked(world.catalog.tombstones_of(TENANT, document_id), forgot=True)
    return document_id


def test_where_nothing_is_left_it_is_proven_place_by_place(world, deleted):
    result = verify("--purged", deleted)
    assert result.exit_code == 0, result.output
    first, *places, last = result.stdout.splitlines()
    assert first.startswith(f"{deleted}: deleted {datetime.now(UTC):%Y-%m-%d}")
    assert first.endswith("3 keys, 0 kept for other documents, 3 still watched")
    assert places == [f"{name}: nothing" for name in ("catalog", "index", "files", "staging", "engine", "disk")]
    assert last == "proven: nothing is left"


def test_it_is_proven_by_key_long_after_the_deletion_has_ended(world, deleted):
    now = datetime.now(UTC)
    world.catalog.tombstones_purged(world.catalog.tombstones_of(TENANT, deleted), now)
    assert told(deleted)["proven"]
    world.path(1).write_bytes(blob(1))
    assert left(deleted) == {"disk": 1}
    world.catalog.drop_tombstones(now + timedelta(seconds=1))
    assert isinstance(verify("--purged", deleted).exception, DocumentNotFound)


def test_a_document_that_lives_is_not_purged(world):
    assert told(world.document_id) | {"places": []} == {
        "document_id": world.document_id, "proven": False, "state": "preread", "deleted_at": None,
        "keys": 0, "kept": 0, "waiting": 0, "places": [],
    }  # fmt: skip
    assert "lives (preread)" in verify("--purged", world.document_id).stdout


def test_an_unknown_document_is_an_error(world):
    problem = verify("--purged", "doc_none").exception
    assert isinstance(problem, DocumentNotFound)
    assert "doc_none" in problem.message
    assert "30 days" in problem.hint


def test_each_place_that_holds_something_is_told(world, index, deleted):
    settings = world.settings
    world.path(1).write_bytes(blob(1))
    compact = compact_key(named(2))
    other = settings.effective_kv_dir / TENANT / compact[:2] / f"{compact}.kv"
    other.parent.mkdir(parents=True, exist_ok=True)
    other.write_bytes(b"a smaller blob")
    settings.effective_staging_dir.mkdir(parents=True)
    (settings.effective_staging_dir / f"{named(3)}.safetensors").write_bytes(b"a capture")
    (settings.files_dir / TENANT / deleted).mkdir(parents=True)
    (settings.files_dir / TENANT / deleted / "a").write_bytes(b"a file")
    opened = index()
    vector = [1.0, *[0.0] * (Embedder(settings.embedding_model).dimension - 1)]
    opened.upsert([IndexedChunk("chk_1", deleted, "ver_1", TENANT, 0, "text", vector)])
    opened.close()
    assert left(deleted) == {"index": 1, "files": 1, "staging": 1, "disk": 2}


def test_an_engine_that_has_not_answered_since_is_named(world, delete):
    document_id = delete()
    assert left(document_id) == {"engine": None}
    assert f"for {len(CHUNKS)} keys" in verify("--purged", document_id).stdout
    assert verify("--purged", document_id).stdout.endswith("not proven\n")


def test_a_tier_that_does_not_answer_is_named(world, deleted, monkeypatch, tmp_path):
    monkeypatch.setenv("PREREAD_KV_REDIS_URL", f"unix://{tmp_path}/none.sock")
    get_settings.cache_clear()
    assert left(deleted) == {"redis": None}
    assert "Redis does not answer" in verify("--purged", deleted).stdout


def test_a_deletion_that_has_only_begun_is_not_proven(world):
    world.catalog.begin_delete(TENANT, world.document_id)
    found = told(world.document_id)
    assert (found["proven"], found["state"]) == (False, "deleting")
    assert left(world.document_id) == {"catalog": 1}


def test_what_another_document_wants_of_the_same_chunks_is_kept_and_no_trace(world, deleted):
    catalog = world.catalog
    catalog.revive(catalog.tombstones_of(TENANT, deleted))
    world.path(1).write_bytes(blob(1))
    assert left(deleted) == {"disk": 1}
    wanted = world.wanted(1)
    catalog.want_preamble(wanted)
    found = told(deleted)
    assert (found["proven"], found["kept"]) == (True, 1)


def test_it_removes_nothing_itself(world):
    assert verify("--purged", world.document_id, "--repair").exit_code == 2
