"""kill -9, again and again, and what is left of the library.

Starts Preread on free ports in a folder of its own, with the packaged model; adds, replaces, pre-reads, deletes and
asks about pages while its processes are killed; compares the result with what the client was told. Ends with status 1
when anything is wrong. Its folder stays.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import httpx
from chaos_pages import pages_in
from chaos_plan import plan
from chaos_run import ChaosRun
from chaos_stack import chaos_settings
from patience import Unanswered
from preread_client import HANDBOOK
from running_stack import RunningStack


def main() -> int:
    options = _options()
    folder = options.work or Path(tempfile.mkdtemp(prefix="preread-chaos-"))
    folder.mkdir(parents=True, exist_ok=True)
    pages = pages_in(options.data, options.pages, options.seed)
    at_first = max(1, options.pages * 3 // 5)
    rounds = plan(options.seed, options.kills, len(pages), at_first)
    say(f"{options.kills} kills in {len(rounds)} rounds on {len(pages)} pages, seed {options.seed}; in {folder}")
    begun = time.monotonic()
    stack = RunningStack(folder, chaos_settings(folder, options.threads))
    stack.start()
    say(f"started in {time.monotonic() - begun:.0f} s")
    run = ChaosRun(stack, pages, options.seed, say)
    try:
        run.run(rounds, at_first, options.settle_every)
    except (AssertionError, Unanswered, httpx.HTTPError) as error:
        run.findings.check("the run came to its end", False, repr(error))
    else:
        run.findings.check("the run came to its end", True)
    finally:
        code = stack.stop()
        run.close()
    left = [process.pid for process in stack.left_behind]
    run.findings.check("it stops when asked to", code == 0 and not left, f"status {code}, left behind: {left}")
    result = {
        "seed": options.seed,
        "pages": len(pages),
        "kills": run.killed.victims.total(),
        "killed": {str(victim): times for victim, times in sorted(run.killed.victims.items())},
        "stages": dict(sorted(run.killed.stages.items())),
        "repeated": dict(sorted(run.patience.reasons.items())),
        "settled_seconds": [round(seconds, 1) for seconds in run.settled_seconds],
        "seconds": round(time.monotonic() - begun),
        "well": run.findings.well,
        "checks": run.findings.as_object(),
        "folder": str(folder),
    }
    (folder / "result.json").write_text(json.dumps(result, indent=1))
    if options.json:
        print(json.dumps(result))
    else:
        print("\n".join(_summary(result) + run.findings.lines()))
    return 0 if run.findings.well else 1


def say(line: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {line}", file=sys.stderr, flush=True)


def _summary(result: dict[str, object]) -> list[str]:
    return [
        f"{name}: {result[name]}" for name in ("killed", "stages", "repeated", "settled_seconds", "seconds", "folder")
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python tests/chaos", description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=HANDBOOK, help="folder of Markdown pages")
    parser.add_argument("--pages", type=int, default=36, help="pages to play with")
    parser.add_argument("--kills", type=int, default=200, help="processes to kill")
    parser.add_argument("--seed", type=int, default=1, help="what is done and killed follows from it")
    parser.add_argument("--settle-every", type=int, default=25, help="kills between two checks of everything")
    parser.add_argument("--threads", type=int, default=0, help="threads of the engine; 0: all cores")
    parser.add_argument("--work", type=Path, help="folder to work in; else a new one")
    parser.add_argument("--json", action="store_true", help="one JSON object")
    return parser.parse_args()
