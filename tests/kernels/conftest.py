"""Triton kernels run on the CPU here, by Triton's interpreter, whether or not another test imported them first."""

import pytest
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.interpreter import InterpretedFunction
from triton.runtime.jit import JITFunction

import kernels.fused_write
import kernels.rans.triton

MODULES = (kernels.fused_write, kernels.rans.triton)
KERNELS = {
    (module, name): value.fn
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, JITFunction | InterpretedFunction)
}


@pytest.fixture(scope="session", autouse=True)
def interpreted():
    """What TRITON_INTERPRET=1 does when a kernel is decorated, for kernels that already are."""
    with pytest.MonkeyPatch.context() as patch:
        for (module, name), function in KERNELS.items():
            patch.setattr(module, name, InterpretedFunction(function))
        yield


@pytest.fixture
def compile_for_gpu(monkeypatch, tmp_path):
    """Compile a kernel down to machine code of an NVIDIA GPU, which needs no GPU; returns the code of each stage."""

    def compile_kernel(wanted, types, constants, **options):
        for (module, name), function in KERNELS.items():
            monkeypatch.setattr(module, name, JITFunction(function))
        kernel = next(getattr(module, name) for module, name in KERNELS if name == wanted)
        signature = dict(zip((name for name in kernel.arg_names if name not in constants), types, strict=True))
        in_order = {name: signature.get(name, "constexpr") for name in kernel.arg_names}
        return triton.compile(
            ASTSource(kernel, in_order, constants), target=GPUTarget("cuda", 90, 32), options=options
        ).asm

    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    return compile_kernel
