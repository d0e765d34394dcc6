"""The `curl` lines of the README and of the pages about the API, as somebody would type them."""

import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = ("README.md", "docs/api.md", "docs/asking.md")


def commands():
    """Indented lines that begin with curl, with those that they go on in."""
    for page in PAGES:
        text = (ROOT / page).read_text()
        for number, found in enumerate(re.findall(r"^    (curl (?:.*\\\n)*.*)$", text, re.MULTILINE)):
            yield pytest.param(found, id=f"{page} {number}")


@pytest.mark.parametrize("command", commands())
def test_a_command_of_the_pages_answers(web, command):
    address = f"{web.client.base_url.host}:{web.client.base_url.port}"
    command = re.sub(r"(http://)?(localhost|127\.0\.0\.1):8100", f"http://{address}", command)
    conversation = web.ask("What is the travel meal allowance?", conversation_id="new").json()["conversation_id"]
    key = web.client.headers["authorization"].removeprefix("Bearer ")
    done = subprocess.run(
        ["bash", "-c", command.replace("cnv_…", conversation)],
        env={**os.environ, "KEY": key},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert '"answer"' in done.stdout, done.stdout + done.stderr
    assert '"code"' not in done.stdout


def test_there_are_such_commands():
    assert len(list(commands())) >= 4
