import subprocess
import sys

import pytest
from typer.testing import CliRunner

from app.cli.main import cli, main
from app.cli.state_lock import hold_state
from app.core.settings import get_settings

COMMANDS = {
    "up",
    "add",
    "ls",
    "rm",
    "sync",
    "ask",
    "precompute",
    "jobs",
    "status",
    "doctor",
    "verify",
    "demo",
    "bench",
    "engine",
    "web",
    "worker",
    "beat",
}


def run_main(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["preread", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    return caught.value.code


def test_every_command_is_there_and_says_what_it_does() -> None:
    assert {command.callback.__name__ for command in cli.registered_commands} >= COMMANDS
    for name in COMMANDS:
        assert CliRunner().invoke(cli, [name, "--help"]).exit_code == 0


@pytest.mark.parametrize(
    "arguments", [("ls",), ("ask", "Why?"), ("ask", "Why?", "--json"), ("status",), ("rm", "doc_1")]
)
def test_without_a_running_service_commands_say_how_to_start_it(own_state, monkeypatch, capsys, arguments) -> None:
    assert run_main(monkeypatch, *arguments) == 1
    output = capsys.readouterr()
    assert "Preread is not running" in output.err
    assert "Start it: preread up" in output.err
    assert "Traceback" not in output.err + output.out


def test_the_command_starts_without_the_model_libraries() -> None:
    program = "import sys, app.cli.main; print({'torch', 'transformers', 'vllm', 'sqlalchemy'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"


def test_bench_passes_its_arguments_on() -> None:
    result = CliRunner().invoke(cli, ["bench", "ttft", "--help"])
    assert result.exit_code == 0
    assert "--chunk-tokens" in result.output


def test_a_wrong_setting_is_named_without_a_traceback(own_state, monkeypatch, capsys) -> None:
    monkeypatch.setenv("PREREAD_PORT", "many")
    get_settings.cache_clear()
    assert run_main(monkeypatch, "ls") == 1
    assert "PREREAD_PORT: " in capsys.readouterr().err


def test_a_second_up_on_the_same_state_is_refused(own_state, monkeypatch, capsys) -> None:
    with hold_state(own_state):
        assert run_main(monkeypatch, "up") == 1
    assert "already running" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["worker", "up"])
def test_where_chunk_kv_is_only_read_there_is_no_worker(own_state, monkeypatch, capsys, command) -> None:
    monkeypatch.setenv("PREREAD_KV_READ_ONLY", "true")
    get_settings.cache_clear()
    monkeypatch.setattr("os.execv", lambda *_: pytest.fail("it started"))
    assert run_main(monkeypatch, command) == 1
    output = capsys.readouterr().err
    assert "PREREAD_KV_READ_ONLY forbids that" in output
    assert "Unset it for workers" in output
