"""Upload to index through every real process but the engine: web, Redis, Celery worker, Qdrant behind web."""

import socket

import pytest
from private_redis import celery_process, private_redis, wait_until
from served_web import web_served

from app.core.settings import Settings
from app.web.main import create_app

WORKER = ("-A", "workers.celery_app", "worker", "--concurrency=1")
PAGE = "# Harbour\n\nThe harbour office opens at seven. Boats are moored for 12 euros a night.\n"


@pytest.fixture
def settings(tmp_path, tmp_path_factory):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with private_redis(tmp_path_factory.mktemp("r")) as path:
        yield Settings(
            state_dir=tmp_path / "state",
            port=port,
            web_url=f"http://127.0.0.1:{port}",
            engine_url="http://127.0.0.1:1",
            redis_url=f"redis+socket://{path}",
            internal_secret="secret-of-this-test",
            reconcile_seconds=1,
            sync_folders=f"docs={tmp_path / 'folder'}",
        )


@pytest.fixture
def client(settings):
    with web_served(create_app(settings), settings, port=settings.port, timeout_seconds=30) as (_, client):
        yield client


def add(client, name, text):
    return client.post("/documents", files={"file": (name, text.encode())}).json()["document"]["id"]


def state(client, document_id):
    return client.get(f"/documents/{document_id}").json()["state"]


def test_an_upload_answers_questions_after_a_real_worker_has_ingested_it(client, settings, tmp_path):
    before = add(client, "harbour.md", PAGE)
    with celery_process(settings, tmp_path, *WORKER):
        wait_until(lambda: state(client, before) == "indexed", "the wake-up sent before the worker came is done")
        parts = {part["name"]: part["ok"] for part in client.get("/readyz").json()["parts"]}
        assert parts == {
            "database": True,
            "queue": True,
            "engine": False,
            "index": True,
            "worker": True,
            "disk for chunk KV": True,
        }
        after = add(client, "pier.md", PAGE.replace("harbour", "pier"))
        wait_until(lambda: state(client, after) == "indexed", "the second document is indexed")
        assert client.delete(f"/documents/{before}").status_code == 204
    assert [item["id"] for item in client.get("/documents").json()["items"]] == [after]


def test_a_folder_is_kept_in_step_by_a_real_worker(client, settings, tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "harbour.md").write_text(PAGE)

    def sync():
        (wanted,) = client.post("/sync", json={"folder": "docs"}).json()["items"]
        path = f"/sync/{wanted['id']}"
        wait_until(lambda: client.get(path).json()["ended_at"], "the sync has ended")
        return client.get(path).json()["report"]

    with celery_process(settings, tmp_path, *WORKER):
        assert sync()["added"] == 1
        (document,) = client.get("/documents", params={"collection": "docs"}).json()["items"]
        assert document["name"] == "docs/harbour.md"
        wait_until(lambda: state(client, document["id"]) == "indexed", "it answers questions")
        (folder / "pier.md").write_text(PAGE.replace("harbour", "pier"))
        (folder / "harbour.md").unlink()
        report = sync()
        assert (report["added"], report["removed"]) == (1, 1)
    assert [item["name"] for item in client.get("/documents").json()["items"]] == ["docs/pier.md"]
