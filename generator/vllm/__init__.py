"""What runs inside the engine.

When a worker starts, vLLM's CPU build looks at the attributes of everything in every module that is loaded. llvmlite,
which Numba brings along, has an object that claims any attribute it is asked for, `__dict__` too, and that ends the
start. So it is made to claim that one no longer.
"""

from llvmlite.binding import ffi

_claim = ffi._lib_wrapper.__getattr__  # noqa: SLF001 - there is no other way to it


def _claim_all_but_dict(library: object, name: str) -> object:
    if name == "__dict__":
        raise AttributeError(name)
    return _claim(library, name)


ffi._lib_wrapper.__getattr__ = _claim_all_but_dict  # noqa: SLF001
