from app.cli.restarts import Restarts


def test_pauses_double_and_stay_short() -> None:
    restarts = Restarts()
    pauses = [restarts.pause_after_death(second, was_ready=True) for second in range(5)]
    assert pauses == [0.5, 1.0, 2.0, 4.0, 8.0]


def test_the_sixth_death_within_a_minute_is_too_many() -> None:
    restarts = Restarts()
    for second in range(5):
        assert restarts.pause_after_death(second, was_ready=True) is not None
    assert restarts.pause_after_death(59, was_ready=True) is None


def test_deaths_far_apart_are_forgiven() -> None:
    restarts = Restarts()
    assert [restarts.pause_after_death(61.0 * n, was_ready=True) for n in range(20)] == [0.5] * 20


def test_a_slow_starter_that_never_becomes_ready_is_given_up() -> None:
    restarts = Restarts()
    pauses = [restarts.pause_after_death(120.0 * n, was_ready=False) for n in range(6)]
    assert pauses[-2:] == [8.0, None]
