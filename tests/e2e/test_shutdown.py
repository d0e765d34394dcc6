"""SIGTERM ends the whole stack. Runs last: afterwards there is none."""

import socket


def test_sigterm_ends_every_process_and_frees_the_ports(stack, handbook):
    stack.mend()
    assert len(stack.processes()) > 5
    assert stack.stop() == 0, stack.logs()
    assert stack.left_behind == []
    for port in stack.ports:
        socket.create_server(("127.0.0.1", port)).close()
    assert not stack.settings.redis_socket.exists()
