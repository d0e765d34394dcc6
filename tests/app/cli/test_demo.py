import json
from pathlib import Path

import pytest

from app.cli.demo import Question, running
from app.cli.errors import ProcessFailed
from app.cli.state_lock import hold_state
from app.core.settings import get_settings

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def test_the_demo_asks_five_of_the_example_questions() -> None:
    examples = {item["question"] for item in json.loads((EXAMPLES / "questions.json").read_text())}
    asked = [item["question"] for item in json.loads((EXAMPLES / "demo-questions.json").read_text())]
    assert len(asked) == len(set(asked)) == 5
    assert set(asked) <= examples


def test_a_demo_that_cannot_start_preread_says_so(own_state, capfd) -> None:
    with hold_state(own_state), pytest.raises(ProcessFailed, match="could not be started"), running(get_settings()):
        pass
    assert "already running" in capfd.readouterr().err


def test_an_answer_is_right_when_it_holds_one_of_the_known_ones() -> None:
    question = Question("How many vans?", ("7 vans", "seven vans"))
    assert question.answered_by("The company has Seven vans.")
    assert not question.answered_by("The company has 2 vans.")
    assert not Question("How many vans?", ()).answered_by("7 vans")
