import json
import socket

import pytest
from pydantic import SecretStr
from qdrant_server import QdrantServer
from typer.testing import CliRunner

from app.cli.checks import installation, machine, services
from app.cli.checks.finding import Level
from app.cli.checks.index import check_index, judge_size
from app.cli.doctor import findings_of
from app.cli.main import cli
from app.cli.stack import migrate
from app.cli.state_lock import hold_state
from retrieval.index import IndexedChunk
from retrieval.qdrant_index import QdrantIndex


def test_a_machine_that_is_set_up_but_not_started_has_no_failure(own_state, settings) -> None:
    elsewhere = settings.model_copy(update={"engine_port": 9, "web_url": "http://127.0.0.1:9"})
    findings = {finding.name: finding for finding in findings_of(elsewhere) if finding.name not in {"pages", "ports"}}
    assert [name for name, finding in findings.items() if finding.level is Level.FAIL] == []
    assert {"redis", "engine", "worker", "web"} <= {n for n, f in findings.items() if f.level is Level.WARN}
    assert findings["engine"].hint == "Start Preread: preread up"


def test_every_finding_that_is_not_ok_says_how_to_mend_it(settings) -> None:
    elsewhere = settings.model_copy(update={"engine_port": 9, "web_url": "http://127.0.0.1:9"})
    assert [finding for finding in findings_of(elsewhere) if finding.level is not Level.OK and not finding.hint] == []


def test_parts_that_should_be_running_and_are_not_are_failures(settings) -> None:
    elsewhere = settings.model_copy(update={"engine_port": 9})
    with hold_state(settings.state_dir):
        (engine,) = services.check_engines(elsewhere)
        assert engine.level is Level.FAIL
        finding = services.check_redis(elsewhere)
    assert finding.level is Level.FAIL
    assert "redis.log" in finding.hint


def test_services_elsewhere_that_do_not_answer_are_failures_without_their_passwords(settings) -> None:
    elsewhere = settings.model_copy(
        update={"redis_url": "redis://:hunter2@127.0.0.1:9/0", "engine_url": "http://127.0.0.1:9"}
    )
    redis, (engine,) = services.check_redis(elsewhere), services.check_engines(elsewhere)
    assert (redis.level, engine.level) == (Level.FAIL, Level.FAIL)
    assert "hunter2" not in redis.message


def test_a_taken_port_is_found(settings) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = settings.model_copy(update={"port": server.getsockname()[1]})
        finding = machine.check_ports(taken)
    assert finding.level is Level.FAIL
    assert "PREREAD_PORT" in finding.hint


def test_a_database_of_another_version_is_found(settings) -> None:
    assert services.check_database(settings).level is Level.OK
    migrate(settings)
    assert services.check_database(settings).message == "up to date"
    (settings.state_dir / "preread.db").unlink()
    (settings.state_dir / "preread.db").touch()
    assert services.check_database(settings).level is Level.FAIL


def test_a_state_folder_that_is_a_file_is_found(settings) -> None:
    settings.state_dir.write_text("not a folder")
    assert machine.check_state_folder(settings).level is Level.FAIL


@pytest.mark.parametrize(
    ("files", "level"),
    [(["config.json"], Level.FAIL), (["config.json", "model.safetensors"], Level.OK), ([], Level.FAIL)],
)
def test_a_model_folder_needs_a_config_and_weights(settings, tmp_path, files, level) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    for name in files:
        (folder / name).touch()
    assert machine.check_model(settings.model_copy(update={"model": str(folder)})).level is level


def test_memory_far_too_short_is_found(settings) -> None:
    greedy = settings.model_copy(update={"engine_kv_gib": 1_000_000})
    finding = machine.check_memory(greedy)
    assert finding.level is Level.FAIL
    assert "PREREAD_ENGINE_KV_GIB" in finding.hint


def test_an_index_made_with_another_embedding_model_waits_to_be_made_anew(settings) -> None:
    away = settings.model_copy(update={"web_url": "http://127.0.0.1:9"})
    assert check_index(away).level is Level.OK
    before = QdrantIndex.open_local(settings.qdrant_dir, 3, "another-model")
    before.upsert([IndexedChunk("chk_1", "doc_1", "ver_1", settings.tenant, 0, "A bridge.", [1.0, 0.0, 0.0])])
    before.close()
    finding = check_index(away)
    assert finding.level is Level.WARN
    assert finding.message.startswith("1 chunks")


@pytest.mark.parametrize(
    ("version", "key", "level", "said"),
    [
        ("1.19.1", "letmein", Level.OK, "0 chunks"),
        ("1.5.0", "letmein", Level.WARN, "1.5.0"),
        ("1.19.1", "wrong", Level.FAIL, "does not let us in"),
    ],
)
def test_a_qdrant_server_is_asked_for_its_version_with_the_key(settings, version, key, level, said) -> None:
    server = QdrantServer(api_key="letmein", version=version)
    try:
        finding = check_index(
            settings.model_copy(
                update={"web_url": "http://127.0.0.1:9", "qdrant_url": server.url, "qdrant_api_key": SecretStr(key)}
            )
        )
    finally:
        server.stop()
    assert (finding.level, said in finding.message) == (level, True)


def test_a_qdrant_server_that_does_not_answer_is_a_failure(settings) -> None:
    finding = check_index(settings.model_copy(update={"qdrant_url": "http://127.0.0.1:9"}))
    assert (finding.level, "127.0.0.1:9" in finding.message) == (Level.FAIL, True)


def test_an_index_that_outgrew_its_folder_should_move_to_a_server() -> None:
    assert "PREREAD_QDRANT_URL" in judge_size(100_001, local=True).hint
    assert judge_size(100_001, local=False).level is Level.OK


def test_pages_that_were_not_built_are_found(tmp_path) -> None:
    assert installation.check_pages(tmp_path / "index.html").hint == "Run: make setup"


def test_the_exit_code_says_whether_something_failed(own_state, monkeypatch) -> None:
    own_state.write_text("not a folder")
    result = CliRunner().invoke(cli, ["doctor", "--json"])
    assert result.exit_code == 1
    findings = json.loads(result.stdout)["findings"]
    assert {"name", "level", "message", "hint"} == set(findings[0])


def test_every_engine_that_must_forget_is_asked(settings) -> None:
    elsewhere = settings.model_copy(update={"engine_port": 9, "engine_urls": "http://127.0.0.1:10, http://127.0.0.1:9"})
    answering, other = services.check_engines(elsewhere)
    assert (answering.name, answering.level) == ("engine", Level.WARN)
    assert (other.name, other.level) == ("engine http://127.0.0.1:10", Level.FAIL)
    assert "PREREAD_ENGINE_URLS" in other.hint
