"""What the containers' health checks run; needs nothing but Python.

    healthy.py answers http://127.0.0.1:8100/healthz      a GET succeeds
    healthy.py fresh /var/lib/preread/run/beat 600        a file whose name starts so was written in these seconds

Exit code 0: healthy.
"""

# ruff: noqa: INP001  (a script, in no package)

import sys
import time
import urllib.request
from pathlib import Path
from urllib.error import URLError

_TIMEOUT_SECONDS = 5


def answers(url: str) -> bool:
    """Proxies of the environment are not asked: the address is this container's own."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with direct.open(url, timeout=_TIMEOUT_SECONDS):
            return True
    except (URLError, OSError) as error:
        sys.stderr.write(f"{url}: {error}\n")
        return False


def fresh(start: Path, seconds: float) -> bool:
    written = max((path.stat().st_mtime for path in start.parent.glob(f"{start.name}*")), default=0.0)
    age = time.time() - written
    sys.stderr.write(f"{start}*: last written {age:.0f} seconds ago\n" if written else f"{start}*: no such file\n")
    return age <= seconds


def main(arguments: list[str]) -> int:
    match arguments:
        case ["answers", url]:
            return 0 if answers(url) else 1
        case ["fresh", start, seconds]:
            return 0 if fresh(Path(start), float(seconds)) else 1
        case _:
            sys.stderr.write(__doc__ or "")
            return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
