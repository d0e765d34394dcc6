"""The line before the places for answers: turns between parties, order within each, and room for everybody."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.web.line import Line

PARTIES = st.sampled_from("abcd")
STEPS = st.lists(st.one_of(PARTIES, st.just("next"), st.just("leave")), max_size=80)


def filled(limit, parties):
    """A line that these have joined, in this order; each is named by its party and a number of its own."""
    line = Line(limit)
    for number, party in enumerate(parties):
        line.join(party, (party, number))
    return line


def emptied(line):
    return [line.next() for _ in range(len(line))]


@given(st.lists(PARTIES, max_size=40))
def test_within_a_party_whoever_came_first_goes_first(parties):
    served = emptied(filled(100, parties))
    for party in set(parties):
        numbers = [number for name, number in served if name == party]
        assert numbers == sorted(numbers)
    assert Counter(name for name, _ in served) == Counter(parties)


@given(st.lists(PARTIES, min_size=1, max_size=40))
def test_between_two_turns_of_a_party_every_other_gets_at_most_one(parties):
    served = [name for name, _ in emptied(filled(100, parties))]
    for party in set(parties):
        turns = [place for place, name in enumerate(served) if name == party]
        for earlier, later in pairwise(turns):
            assert all(count == 1 for count in Counter(served[earlier + 1 : later]).values())


def test_one_in_line_waits_for_one_of_each_other_party_at_most():
    line = filled(100, "a" * 50)
    line.join("b", "late")
    assert line.next() == ("a", 0)
    assert line.next() == "late"


@given(st.integers(0, 6), STEPS)
def test_everybody_is_served_sent_away_or_still_in_line_and_never_twice(limit, steps):
    line, joined, out = Line(limit), [], []
    for number, step in enumerate(steps):
        if step == "next":
            if line:
                out.append(line.next())
        elif step == "leave":
            if joined:
                party, who = joined[number % len(joined)]
                before = len(line)
                line.leave(party, who)
                if len(line) < before:
                    out.append(who)
        else:
            joined.append((step, number))
            gone = line.join(step, number)
            if gone is not None:
                out.append(gone)
        assert len(line) <= limit
    assert sorted(out + emptied(line)) == sorted(number for _, number in joined)


@given(st.integers(1, 12), st.lists(PARTIES, max_size=60), PARTIES)
def test_a_party_with_less_than_its_share_always_finds_room(limit, parties, party):
    line = filled(limit, parties)
    held = Counter(name for name, _ in emptied(filled(limit, parties)))
    share = limit // len({*held, party})
    gone = line.join(party, "newcomer")
    if held[party] < share:
        assert gone != "newcomer"
    if gone not in (None, "newcomer"):
        assert held[gone[0]] == max(held.values())
        assert held[party] + 1 < held[gone[0]]


@pytest.mark.parametrize(("already", "gone"), [("aaa", ("a", 2)), ("aab", "newcomer"), ("abc", "newcomer")])
def test_a_full_line_makes_room_only_where_another_party_has_more(already, gone):
    assert filled(3, already).join("b", "newcomer") == gone


def test_without_room_for_anybody_everybody_is_sent_away():
    assert Line(0).join("a", "who") == "who"
