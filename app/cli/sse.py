"""Server-sent events, as far as `/ask` uses them."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ServerEvent:
    """`data` is parsed JSON."""

    name: str
    data: Any


def events(lines: Iterable[str]) -> Iterator[ServerEvent]:
    """The events in lines without their line ends; an event that its blank line never closed is dropped."""
    name, data = "message", list[str]()
    for line in lines:
        if not line:
            if data:
                yield ServerEvent(name, json.loads("\n".join(data)))
            name, data = "message", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
