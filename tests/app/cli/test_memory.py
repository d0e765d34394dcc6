import pytest

from app.cli.errors import MemoryShort
from app.cli.memory import MemoryNeed, available_bytes, judge_memory, memory_need

GIB = 2**30
NEED = MemoryNeed(weights=GIB, paged_kv=2 * GIB, chunk_kv=GIB)


def test_the_need_is_weights_and_both_kinds_of_kv_and_the_rest(settings, tmp_path) -> None:
    (tmp_path / "model-00001-of-00002.safetensors").write_bytes(b"x" * 1000)
    (tmp_path / "model-00002-of-00002.safetensors").write_bytes(b"x" * 500)
    (tmp_path / "training_args.bin").write_bytes(b"x" * 7)
    settings = settings.model_copy(update={"dtype": "bfloat16"})
    need = memory_need(settings, tmp_path)
    assert need.weights == 1500
    assert memory_need(settings.model_copy(update={"dtype": "float32"}), tmp_path).weights == 3000
    assert need.total == 1500 + settings.engine_kv_gib * GIB + settings.kv_memory_bytes + 2 * GIB


def test_enough_memory_needs_no_words() -> None:
    assert judge_memory(NEED, 6 * GIB) == ""


def test_a_little_too_little_is_a_warning() -> None:
    assert "Memory is short: 5.5 GiB are free" in judge_memory(NEED, int(5.5 * GIB))


def test_far_too_little_is_an_error_that_says_what_to_lower() -> None:
    with pytest.raises(MemoryShort) as caught:
        judge_memory(NEED, 3 * GIB)
    assert "paged KV 2.0 GiB" in caught.value.message
    assert "PREREAD_ENGINE_KV_GIB" in caught.value.hint


@pytest.mark.parametrize(("limit", "expected"), [("3000", 2000), ("500", 0)])
def test_a_container_limit_counts(tmp_path, limit, expected) -> None:
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert available_bytes(tmp_path) == expected


def test_no_limit_is_no_limit(tmp_path) -> None:
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("1000\n")
    assert available_bytes(tmp_path) > GIB // 8
