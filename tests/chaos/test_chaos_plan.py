"""What is killed and when follows from the seed, and leaves nothing out."""

from collections import Counter

import pytest
from chaos_plan import Change, Stage, Victim, Way, plan

PAGES, AT_FIRST = 40, 24


@pytest.fixture(scope="module", params=range(1, 6))
def rounds(request):
    return plan(request.param, 200, PAGES, AT_FIRST)


def test_the_same_seed_plans_the_same_and_another_seed_something_else():
    assert plan(1, 60, PAGES, AT_FIRST) == plan(1, 60, PAGES, AT_FIRST)
    assert plan(1, 60, PAGES, AT_FIRST) != plan(2, 60, PAGES, AT_FIRST)


def test_two_hundred_kills_hit_every_process_and_the_engine_ten_times_at_least(rounds):
    killed = Counter(victim for each in rounds for victim in each.victims)
    assert killed.total() == 200
    assert set(killed) == set(Victim)
    engine = killed[Victim.ENGINE] + killed[Victim.ENGINE_CORE]
    assert 10 <= engine <= 20
    assert sum(len(each.victims) > 1 for each in rounds) > 5


def test_kills_are_spread_over_every_change_every_stage_and_every_way_to_ask(rounds):
    assert {each.change for each in rounds} == set(Change)
    assert {each.stage for each in rounds} == set(Stage)
    assert {each.way for each in rounds} == set(Way)


def test_the_first_kills_of_a_long_plan_and_a_short_plan_hit_the_engine_too():
    engines = {Victim.ENGINE, Victim.ENGINE_CORE}
    assert any(engines.intersection(each.victims) for each in plan(3, 8, 8, 4))


def test_only_what_is_there_is_changed_and_only_what_is_not_is_added(rounds):
    present, deleted = set(range(AT_FIRST)), set[int]()
    for each in rounds:
        assert each.about in present | {each.page}
        if each.change is Change.DELETE:
            assert each.page in present
            present.remove(each.page)
            deleted.add(each.page)
        elif each.change is Change.ADD:
            assert each.page not in present | deleted
            present.add(each.page)
        elif each.change is Change.RETURN:
            assert each.page in deleted
            present.add(each.page)
            deleted.remove(each.page)
        else:
            assert each.page in present
        assert len(present) >= PAGES // 2
