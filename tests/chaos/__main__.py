"""`python tests/chaos`: makes importable what the run is written with, and starts it."""

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(_ROOT), str(_ROOT / "tests"), str(_ROOT / "tests" / "e2e")]

if __name__ == "__main__":
    from chaos_command import main

    sys.exit(main())
