import os
import socket
import threading

import pytest

from app.cli.errors import PortTaken
from app.cli.ports import require_port


@pytest.fixture
def listener():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def test_a_taken_port_is_named_with_its_setting_and_its_holder(listener) -> None:
    port = listener.getsockname()[1]
    with pytest.raises(PortTaken) as caught:
        require_port("127.0.0.1", port, "PREREAD_PORT", wait_seconds=0)
    assert f"Port {port} is taken" in caught.value.message
    assert f"(process {os.getpid()})" in caught.value.message
    assert "PREREAD_PORT" in caught.value.hint


def test_a_free_port_is_no_error(listener) -> None:
    port = listener.getsockname()[1]
    listener.close()
    require_port("127.0.0.1", port, "PREREAD_PORT", wait_seconds=0)


def test_a_port_that_comes_free_in_a_moment_is_waited_for(listener) -> None:
    port = listener.getsockname()[1]
    threading.Timer(0.3, listener.close).start()
    require_port("127.0.0.1", port, "PREREAD_PORT", wait_seconds=10)


def test_an_address_that_is_not_ours_is_an_error_at_once() -> None:
    with pytest.raises(PortTaken, match=r"Cannot listen on 192\.0\.2\.1"):
        require_port("192.0.2.1", 8100, "PREREAD_PORT")
