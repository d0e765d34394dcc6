"""How the stack is set up that is to be killed."""

from pathlib import Path

from running_stack import free_port


def chaos_settings(folder: Path, threads: int) -> dict[str, str]:
    """As it ships but for what waits: what a killed worker held is retaken after 10 seconds, not 30, so that there is
    time for many kills; chunks are short, for the same reason, and so that documents have several.

    Tries: nobody can tell a document that kills its worker from one whose worker is killed again and again for no
    reason of its own, as here; so it is given more of them, with shorter pauses. In float32 and stored losslessly,
    equal answers can be asked for: they depend neither on what is computed beside them nor on how they were cached.
    """
    return {
        "PREREAD_STATE_DIR": str(folder / "state"),
        "PREREAD_PORT": str(free_port()),
        "PREREAD_ENGINE_PORT": str(free_port()),
        "PREREAD_ENGINE_KV_GIB": "1",
        "PREREAD_ENGINE_THREADS": str(threads),
        "PREREAD_KV_MEMORY_BYTES": "300000000",
        "PREREAD_DTYPE": "float32",
        "PREREAD_KV_PRESET": "lossless",
        "PREREAD_CONDITIONING": "neutral",
        "PREREAD_CHUNK_TOKENS": "200",
        "PREREAD_WORKER_PROCESSES": "2",
        "PREREAD_INTERNAL_SECRET": "secret-of-the-tests",
        "PREREAD_LEASE_SECONDS": "10",
        "PREREAD_RECONCILE_SECONDS": "5",
        "PREREAD_TASK_ATTEMPTS": "20",
        "PREREAD_RETRY_SECONDS": "1",
    }
