"""Where the model comes from, what it is called, and how its engine is started."""

import json
import os
from pathlib import Path

import pytest

from app.core.settings import Settings
from generator.engine_config import EngineConfig
from generator.errors import ModelNotFound
from generator.fingerprint import model_fingerprint
from generator.launch import core_lists, engine_command
from generator.model_source import resolve_model


def model_folder(folder: Path, **config: object) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps({"model_type": "llama", "rope_theta": 10000.0, **config}))
    (folder / "model.safetensors").write_bytes(bytes(range(256)) * 16)
    (folder / "tokenizer.json").write_text("{}")
    return folder


def test_a_local_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    assert resolve_model(Settings(model=str(folder))) == folder


def test_a_folder_without_a_configuration_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"config\.json"):
        resolve_model(Settings(model=str(tmp_path)))


def test_a_name_that_is_nothing_is_refused_naming_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(ModelNotFound) as caught:
        resolve_model(Settings(model="no-such/model-at-all"))
    assert "PREREAD_MODEL" in caught.value.hint


def test_the_same_model_has_the_same_fingerprint_wherever_it_lies(tmp_path: Path) -> None:
    one, other = model_folder(tmp_path / "a", _name_or_path="a"), model_folder(tmp_path / "b", _name_or_path="b")
    assert model_fingerprint(one, "bfloat16") == model_fingerprint(other, "bfloat16")


def test_weights_rope_quantisation_tokenizer_and_precision_each_change_the_fingerprint(tmp_path: Path) -> None:
    folder = model_folder(tmp_path / "model")
    seen = {model_fingerprint(folder, "bfloat16"), model_fingerprint(folder, "float32")}
    model_folder(folder, rope_theta=500000.0)
    seen.add(model_fingerprint(folder, "bfloat16"))
    model_folder(folder, quantization_config={"quant_method": "gptq", "bits": 4})
    seen.add(model_fingerprint(folder, "bfloat16"))
    (folder / "quantize_config.json").write_text('{"bits": 8}')
    seen.add(model_fingerprint(folder, "bfloat16"))
    (folder / "tokenizer.json").write_text('{"added": 1}')
    seen.add(model_fingerprint(folder, "bfloat16"))
    weights = bytearray((folder / "model.safetensors").read_bytes())
    weights[len(weights) // 2] ^= 1
    (folder / "model.safetensors").write_bytes(weights)
    seen.add(model_fingerprint(folder, "bfloat16"))
    assert len(seen) == 7


def test_the_engine_is_started_with_our_connector_worker_and_routes(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path, engine_port=9123, dtype="float32", engine_threads=3)
    command, environment = engine_command(settings, model_folder(tmp_path / "model"))
    options = dict(zip(command[3::2], command[4::2], strict=False))
    transfer = json.loads(options["--kv-transfer-config"])
    assert transfer["kv_connector_module_path"] == "generator.vllm.connector"
    config = EngineConfig.from_json(transfer["kv_connector_extra_config"])
    assert config.fingerprint == model_fingerprint(tmp_path / "model", "float32")
    assert options["--port"] == "9123"
    assert options["--worker-cls"] == "generator.vllm.worker.FusionWorker"
    assert options["--scheduler-cls"] == "generator.vllm.scheduler.TurnTakingScheduler"
    assert options["--middleware"] == "generator.vllm.routes.EngineRoutes"
    assert "--enforce-eager" in command
    assert environment["OMP_NUM_THREADS"] == "3"


def test_a_split_model_gets_its_processes_cores_and_no_more_memory(tmp_path: Path) -> None:
    settings = Settings(state_dir=tmp_path, tensor_parallel=2, engine_kv_gib=6, engine_threads=2)
    command, environment = engine_command(settings, model_folder(tmp_path / "model"))
    assert command[command.index("--tensor-parallel-size") + 1] == "2"
    assert environment["VLLM_CPU_OMP_THREADS_BIND"].count("|") == 1
    assert environment["VLLM_CPU_KVCACHE_SPACE"] == "3"


def test_a_whole_model_is_bound_to_no_cores(tmp_path: Path) -> None:
    command, environment = engine_command(Settings(state_dir=tmp_path), model_folder(tmp_path / "model"))
    assert "--tensor-parallel-size" not in command
    assert "VLLM_CPU_OMP_THREADS_BIND" not in environment


def test_an_engine_that_has_some_of_the_cores_is_bound_to_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    _, environment = engine_command(Settings(state_dir=tmp_path, engine_threads=2), model_folder(tmp_path / "model"))
    assert environment["OMP_NUM_THREADS"] == "2"
    assert environment["VLLM_CPU_OMP_THREADS_BIND"] == "nobind"


def test_cores_are_shared_out_evenly_and_shared_where_there_are_too_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2, 3, 5, 7, 11})
    assert core_lists(ranks=2, threads=4) == "2,3|5,7"
    assert core_lists(ranks=2, threads=8) == "2,3|5,7"
    assert core_lists(ranks=2, threads=2) == "2|3"
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {4})
    assert core_lists(ranks=2, threads=2) == "4|4"
