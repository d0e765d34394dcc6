"""Finding the processes of a running stack by what they do, and ending them as a lack of memory would."""

from contextlib import suppress
from random import Random

import psutil
from chaos_plan import Victim
from running_stack import RunningStack

_MARKS = {
    Victim.WEB: "app.cli.main web",
    Victim.REDIS: "redis-server",
    Victim.BEAT: "workers.celery_app beat",
    Victim.ENGINE: "vllm.entrypoints",
    Victim.ENGINE_CORE: "VLLM::EngineCore",
}


def processes_of(victim: Victim, stack: RunningStack, draw: Random) -> list[psutil.Process]:
    """Those to be killed together; empty while there are none."""
    if victim in _MARKS:
        return [process for process in stack.processes() if _MARKS[victim] in _command(process)][:1]
    worker = stack.worker()
    if victim is Victim.WORKER_PARENT:
        return worker[:1]
    if victim is Victim.WORKER_CHILD:
        return [draw.choice(worker[1:])] if worker[1:] else []
    return worker


def kill(processes: list[psutil.Process]) -> None:
    """`kill -9`. Whatever has just ended by itself is left out."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def _command(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.NoSuchProcess:
        return ""
