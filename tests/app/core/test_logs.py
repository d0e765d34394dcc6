"""Log lines of a process: what is in them, in either form, and what is not."""

import json
import re
import subprocess
import sys

import pytest

LOGGING = """
import logging
from app.core.access import Principal, Role
from app.core.logs import configure_logging
from app.core.request_context import RequestContext, enter_request
from app.core.settings import Settings

configure_logging(Settings(_env_file=None, log_format={form!r}, log_level={level!r}))
log = logging.getLogger("app.web.somewhere")
log.debug("a detail")
log.info("nobody asked")
principal = Principal("key_7", "a key", "acme", Role.READER, Role.READER.permissions)
enter_request(RequestContext("asked-1", principal))
log.info("it is %d", 7, extra={{"ms": 1.5}})
logging.getLogger("uvicorn.error").info("Started")
logging.getLogger("httpx").info("HTTP Request: GET http://engine/?secret")
try:
    1 / 0
except ZeroDivisionError:
    log.exception("two\\nlines")
"""


def logged(form: str, level: str = "INFO") -> list[str]:
    code = LOGGING.format(form=form, level=level)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_a_line_is_one_json_object() -> None:
    lines = [json.loads(line) for line in logged("json")]
    assert [line["message"] for line in lines] == ["nobody asked", "it is 7", "Started", "two\nlines"]
    first, second, third, last = lines
    assert first.keys() == {"time", "level", "logger", "message"}
    assert second.items() >= {
        "level": "INFO", "logger": "app.web.somewhere", "request_id": "asked-1", "tenant": "acme", "ms": 1.5,
    }.items()  # fmt: skip
    assert third["logger"] == "uvicorn.error"
    assert last["level"] == "ERROR"
    assert "ZeroDivisionError" in last["exception"]
    for line in lines:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", line["time"])


def test_text_is_for_people() -> None:
    lines = logged("text")
    assert re.fullmatch(r"\S+Z INFO app\.web\.somewhere: nobody asked", lines[0])
    assert re.fullmatch(r"\S+Z INFO app\.web\.somewhere \[asked-1\]: it is 7", lines[1])
    assert "ZeroDivisionError: division by zero" in lines


@pytest.mark.parametrize(("level", "first"), [("DEBUG", "a detail"), ("INFO", "nobody asked"), ("ERROR", "two\nlines")])
def test_the_level_is_what_is_logged_from(level: str, first: str) -> None:
    assert json.loads(logged("json", level)[0])["message"] == first
