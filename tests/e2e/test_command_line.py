"""The `preread` command against a running stack: what it prints and how it ends."""

import json

import pytest
from stack import free_port

PAGE = "# Ferry\n\nThe ferry to Skerry Island leaves at 06:45. A return ticket costs 18 euros.\n"


@pytest.fixture
def ferry(stack):
    """A page on disk."""
    path = stack.folder / "ferry.md"
    path.write_text(PAGE)
    return path


def test_a_document_is_added_listed_and_removed(stack, ferry, client):
    added = stack.run("add", str(ferry))
    assert added.code == 0, added.err
    assert "ferry.md" in added.out
    listed = json.loads(stack.run("ls", "--json").out)["documents"]
    (document,) = [document for document in listed if document["name"] == "ferry.md"]
    assert document["state"] == "preread"
    assert document["chunks_ready"] == document["chunks"] == 1
    removed = stack.run("rm", document["id"])
    assert (removed.code, removed.out.strip()) == (0, f"deleted {document['id']}")
    assert document["id"] not in stack.run("ls").out
    proof = stack.run("verify", "--purged", document["id"], "--json")
    found = json.loads(proof.out)
    assert (proof.code, found["proven"]) == (0, True), found
    assert found["keys"] == 2
    assert {place["name"] for place in found["places"]} >= {"catalog", "index", "files", "staging", "engine", "disk"}


def test_adding_the_same_file_twice_makes_one_document(stack, ferry, client):
    first, second = stack.run("add", str(ferry)), stack.run("add", str(ferry))
    assert first.out.startswith("added")
    assert second.out.startswith("known")
    stack.run("rm", second.out.split()[1])


def test_a_file_that_cannot_be_read_fails_with_its_reason(stack, client):
    path = stack.folder / "broken.pdf"
    path.write_bytes(b"%PDF-1.7\nnot a document")
    added = stack.run("add", str(path))
    assert added.code == 1
    assert "failed" in added.out
    stack.run("rm", added.out.split()[1])


@pytest.mark.usefixtures("handbook")
def test_a_question_is_answered_with_its_sources_and_what_the_cache_did(stack):
    asked = stack.run("ask", "What is the mileage rate for your own car?")
    assert asked.code == 0, asked.err
    assert "0.42 euros" in asked.out
    assert "chunks from cache, first token after" in asked.out


@pytest.mark.usefixtures("handbook")
def test_a_question_as_json_is_the_answer_of_the_api(stack, client):
    question = "What is the mileage rate for your own car?"
    asked = json.loads(stack.run("ask", question, "--json", "--cache", "off").out)
    assert asked["policy"] == "exact"
    assert asked.keys() == client.ask(question, max_tokens=1).keys()


@pytest.mark.usefixtures("handbook")
def test_a_comparison_shows_both_runs(stack):
    compared = stack.run("ask", "What is the mileage rate for your own car?", "--compare", "--json")
    both = json.loads(compared.out)
    assert both["exact"]["usage"]["reused_tokens"] == 0
    assert both["fused"]["usage"]["reused_tokens"] > 0


def test_a_bad_policy_ends_with_code_1_and_says_what_is_allowed(stack, client):
    asked = stack.run("ask", "Anything?", "--policy", "sorcery")
    assert asked.code == 1
    assert "sorcery" in asked.err
    assert "head@TOKENS" in asked.err


def test_status_counts_what_the_api_counts(stack, client, handbook):
    shown = json.loads(stack.run("status", "--json").out)
    assert shown["engine_ready"] is True
    assert shown["fusion"] is True
    assert shown["documents"]["preread"] == len(handbook)
    assert shown["chunks"] == shown["chunks_ready"] > len(handbook)
    assert shown["cache"]["hits"] == client.http.get("/admin/cache").json()["hits"]


def test_status_is_readable(stack, client, handbook):
    shown = stack.run("status").out
    assert f"fusion          on, policy {client.http.get('/status').json()['policy']}, conditioning neutral" in shown
    assert f"{len(handbook)} preread" in shown


def test_doctor_finds_nothing_wrong_with_a_running_stack(stack, client):
    checked = stack.run("doctor", "--json")
    findings = json.loads(checked.out)["findings"]
    assert [finding for finding in findings if finding["level"] == "fail"] == []
    assert checked.code == 0
    assert {"engine", "worker", "web", "redis", "database", "index"} <= {finding["name"] for finding in findings}


def test_a_command_without_a_running_stack_says_how_to_start_one(stack, tmp_path):
    asked = stack.run("ls", PREREAD_PORT=str(free_port()), PREREAD_STATE_DIR=str(tmp_path))
    assert asked.code == 1
    assert "preread up" in asked.err


@pytest.mark.shape("embedded")
def test_a_second_stack_on_the_same_folder_is_refused(stack, client):
    second = stack.run("up", PREREAD_PORT=str(free_port()), PREREAD_ENGINE_PORT=str(free_port()))
    assert second.code == 1
    assert "already running" in second.err


def test_precompute_wakes_a_document(stack, client, handbook):
    woken = stack.run("precompute", "--document", handbook["holidays.md"])
    assert woken.code == 0, woken.err
    client.wait_until_preread([handbook["holidays.md"]])
