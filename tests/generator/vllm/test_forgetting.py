"""The prefix cache is emptied as soon as vLLM can, however often that is asked for."""

import asyncio

import generator.vllm.forgetting as module
from generator.vllm.forgetting import Forgetting


class Engine:
    def __init__(self, *answers):
        self.answers = list(answers)
        self.asked = 0

    async def reset_prefix_cache(self):
        self.asked += 1
        answer = self.answers.pop(0) if self.answers else True
        if isinstance(answer, Exception):
            raise answer
        return answer


def run(engine, begin, monkeypatch):
    monkeypatch.setattr(module, "_FIRST_PAUSE_SECONDS", 0.001)

    async def forget():
        forgetting = Forgetting()
        await begin(forgetting)
        await forgetting._task
        return forgetting

    return asyncio.run(forget())


async def once(forgetting, engine):
    forgetting.begin(engine)


def test_it_asks_until_no_request_holds_a_block(monkeypatch):
    engine = Engine(False, False, True)
    run(engine, lambda forgetting: once(forgetting, engine), monkeypatch)
    assert engine.asked == 3


def test_what_is_asked_for_meanwhile_is_done_after_it(monkeypatch):
    class Asking(Engine):
        async def reset_prefix_cache(self):
            if self.asked == 0:
                forgettings[0].begin(self)
            return await super().reset_prefix_cache()

    engine, forgettings = Asking(), []

    async def begin(forgetting):
        forgettings.append(forgetting)
        forgetting.begin(engine)
        forgetting.begin(engine)

    run(engine, begin, monkeypatch)
    assert engine.asked == 2


def test_an_engine_that_fails_is_logged_and_asked_again_next_time(monkeypatch, caplog):
    engine = Engine(RuntimeError("dead"))

    async def twice(forgetting):
        forgetting.begin(engine)
        await forgetting._task
        forgetting.begin(engine)

    run(engine, twice, monkeypatch)
    assert engine.asked == 2
    assert "not emptied" in caplog.text
