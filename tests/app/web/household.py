"""A tenant with something of everything, and the words by which it would be known anywhere."""

from dataclasses import dataclass, field
from typing import Any

import httpx
from credentials import admin_headers, new_key, new_user
from web_harness import Web

from app.core.catalog import RunKind, RunState

FOLDER = "folder"


@dataclass(frozen=True)
class Household:
    """`ids`: by the name that paths have for them. `marks`: nobody else may read one of these."""

    tenant: str
    client: httpx.Client
    question: str
    label: str
    ids: dict[str, str]
    marks: frozenset[str] = field(repr=False)

    def shown(self) -> dict[str, Any]:
        """All that is its own, as its own admin sees it."""
        paths = ("/documents", "/collections", "/tags", "/jobs", "/admin/keys", "/admin/users", "/admin/runs", "/sync")
        paths += ("/conversations", "/admin/feedback")
        seen = {path: self.client.get(path).raise_for_status().json() for path in paths}
        for key in seen["/admin/keys"]["items"]:
            key.pop("last_used_at")
        return seen


def furnished(web: Web, tenant: str, word: str) -> Household:
    """`word` stands in everything that it has."""
    catalog = web.services.catalog
    client = httpx.Client(base_url=web.client.base_url, headers=admin_headers(catalog, tenant), timeout=60)
    text = f"# The {word} lighthouse\n\nThe {word} lighthouse keeper paints the lamp room green every spring.\n"
    document = _added(web, client, f"{word}.md", text)
    dead = _added(web, client, f"{word}-dead.md", f"# Dead\n\nThe {word} ferry sank in a storm.\n")
    client.put(f"/documents/{document}/labels", json={"collections": [f"{word}-shelf"], "tags": [f"{word}-tag"]})
    assert catalog.claim(dead, "worker", 60)
    catalog.fail(dead, "worker", "time_limit", f"The {word} job took too long.")
    (job,) = [job["id"] for job in client.get("/jobs").json()["items"] if job["document_id"] == dead]
    run = catalog.start_run(tenant, RunKind.MANUAL, [document], None)
    assert run is not None
    catalog.end_run(run.id, RunState.DONE, f"{word} was done")
    sync = catalog.want_sync(tenant, FOLDER)
    assert catalog.take_sync(tenant, "worker", 60, sync.id)
    catalog.leave_sync(sync.id, "worker", {"problem": f"{word} is amiss"}, ended=True)
    key, _ = new_key(catalog, tenant)
    user = new_user(catalog, f"{word}-admin", tenant=tenant)
    question = f"Who paints the lamp room of the {word} lighthouse green every spring?"
    web.engine.behave()
    answer = client.post("/ask", json={"question": question, "conversation_id": "new"}).raise_for_status().json()
    client.post(f"/ask/{answer['request_id']}/feedback", json={"rating": "up", "comment": word}).raise_for_status()
    ids = {
        "request_id": answer["request_id"],
        "conversation_id": answer["conversation_id"],
        "document_id": document,
        "job_id": job,
        "run_id": run.id,
        "sync_id": sync.id,
        "key_id": key.id,
        "name": user.name,
    }
    return Household(tenant, client, question, f"{word}-shelf", ids, frozenset({word, dead, *ids.values()}))


def _added(web: Web, client: httpx.Client, name: str, text: str) -> str:
    answer = client.post("/documents", files={"file": (name, text.encode())})
    assert answer.status_code == 201, answer.text
    document_id: str = answer.json()["document"]["id"]
    web.ingest(document_id)
    return document_id
