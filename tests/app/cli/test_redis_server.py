import stat

from redis import Redis

from app.cli.processes import ProcessSpec
from app.cli.redis_server import redis_answers, redis_command
from app.cli.supervisor import Stage, Supervisor


def test_the_private_redis_answers_on_its_socket_alone_and_evicts_nothing(tmp_path) -> None:
    socket = tmp_path / "run" / "redis.sock"
    spec = ProcessSpec("redis", redis_command(socket), is_ready=lambda: redis_answers(socket), ready_seconds=20)
    assert not redis_answers(socket)
    with Supervisor([Stage([spec])], log_dir=tmp_path, say=lambda _: None) as supervisor:
        supervisor.start()
        with Redis(unix_socket_path=str(socket), decode_responses=True) as client:
            assert client.config_get("port") == {"port": "0"}
            assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
            assert client.config_get("save") == {"save": ""}
        assert stat.S_IMODE(socket.stat().st_mode) == 0o700
        assert stat.S_IMODE(socket.parent.stat().st_mode) == 0o700
    assert not redis_answers(socket)
