"""`auto` precision: bfloat16 only where the machine computes it by itself."""

from pathlib import Path

import pytest

from app.core.processor import computes_bfloat16
from app.core.settings import Settings

X86 = "processor\t: 0\nmodel name\t: {name}\nflags\t\t: fpu sse2 avx2 {flags}\n"
ARM = "processor\t: 0\nFeatures\t: fp asimd {flags}\n"


@pytest.mark.parametrize(
    ("text", "computes"),
    [
        (X86.format(name="one with bf16 in its name", flags="avx512f"), False),
        (X86.format(name="EPYC", flags=""), False),
        (X86.format(name="EPYC", flags="avx512f avx512_bf16"), True),
        (X86.format(name="Xeon", flags="amx_tile amx_bf16"), True),
        (ARM.format(flags="sve"), False),
        (ARM.format(flags="bf16"), True),
        ("nothing that is known\n", True),
    ],
)
def test_the_processors_flags_tell(tmp_path: Path, text: str, computes: bool) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(text)
    assert computes_bfloat16(cpuinfo, accelerators=()) is computes


def test_an_accelerator_computes_it_whatever_the_processor(tmp_path: Path) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(X86.format(name="EPYC", flags=""))
    assert computes_bfloat16(cpuinfo, accelerators=(str(tmp_path / "none"), str(tmp_path)))


def test_without_anything_to_read_it_is_believed(tmp_path: Path) -> None:
    assert computes_bfloat16(tmp_path / "none", accelerators=())


@pytest.mark.parametrize(("native", "dtype"), [(True, "bfloat16"), (False, "float32")])
def test_auto_follows_the_machine_and_a_name_is_a_name(
    monkeypatch: pytest.MonkeyPatch, native: bool, dtype: str
) -> None:
    monkeypatch.setattr("app.core.settings.computes_bfloat16", lambda: native)
    assert Settings(_env_file=None, dtype="auto").effective_dtype == dtype
    assert Settings(_env_file=None, dtype="float16").effective_dtype == "float16"
