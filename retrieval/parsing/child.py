"""A process that reads one file: `python -m retrieval.parsing.child`, started by `apart`.

Standard input is a line of JSON (name, parent, limits), then the file; standard output is one JSON object.
"""

import json
import os
import sys
from dataclasses import asdict

from retrieval.errors import FileRefused
from retrieval.parsing.limits import OUT_OF_MEMORY, TOO_MUCH_TEXT, ParseLimits, confine
from retrieval.parsing.parser import parse


def main() -> None:
    order = json.loads(sys.stdin.buffer.readline())
    limits = ParseLimits(**order["limits"])
    confine(limits, order["parent"])
    try:
        answer = _answer(order["name"], limits)
    except MemoryError:
        os._exit(OUT_OF_MEMORY)
    try:
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
    except OSError:
        os._exit(TOO_MUCH_TEXT)
    # Taking down a large tree object by object would only cost time.
    os._exit(0)


def _answer(name: str, limits: ParseLimits) -> bytes:
    try:
        parsed = asdict(parse(sys.stdin.buffer.read(), name, limits.characters))
        return json.dumps({"parsed": parsed}, ensure_ascii=False).encode()
    except FileRefused as refusal:
        return json.dumps({"refused": [refusal.code, refusal.message, refusal.hint]}).encode()


if __name__ == "__main__":
    main()
