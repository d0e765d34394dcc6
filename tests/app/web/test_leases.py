"""Requests of a key that are open at once, where several are asked for and given back in the same moment."""

import asyncio

from app.web.access.leases import Leases
from app.web.access.shared_redis import Away

KEY = "key_1"


class Script:
    def __call__(self, keys, args):
        raise AssertionError("a test's Redis answers by itself")


class SlowRedis:
    """Answers when it is told to."""

    def __init__(self):
        self.client = self
        self.asked = []
        self._arrived = asyncio.Queue()

    def register_script(self, _text):
        return Script()

    async def ask(self, _call):
        answer = asyncio.get_running_loop().create_future()
        self.asked.append(answer)
        self._arrived.put_nowait(answer)
        return await answer

    async def question(self, number):
        """The answer that is owed to that question, once it has been asked."""
        async with asyncio.timeout(10):
            while len(self.asked) < number:
                await self._arrived.get()
        return self.asked[number - 1]


async def taken(leases, redis, given):
    task = asyncio.create_task(leases.take(KEY, 1))
    (await redis.question(len(redis.asked) + 1)).set_result(given)
    return await task


async def test_two_that_are_refused_while_the_last_is_given_back_are_refused_and_no_more():
    redis = SlowRedis()
    leases = Leases(redis)
    lease = await taken(leases, redis, 1)
    first, second = (asyncio.create_task(leases.take(KEY, 1)) for _ in range(2))
    await redis.question(3)
    leases.give_back(KEY, lease)
    for answer in redis.asked[1:3]:
        answer.set_result(0)
    assert await asyncio.gather(first, second) == [None, None]


async def test_one_that_is_given_while_the_last_is_given_back_counts_while_redis_is_away():
    redis = SlowRedis()
    leases = Leases(redis)
    lease = await taken(leases, redis, 1)
    next_one = asyncio.create_task(leases.take(KEY, 2))
    answer = await redis.question(2)
    leases.give_back(KEY, lease)
    answer.set_result(1)
    assert await next_one is not None
    beside = asyncio.create_task(leases.take(KEY, 1))
    (await redis.question(len(redis.asked) + 1)).set_exception(Away())
    assert await beside is None, "one is out already"


async def test_what_is_given_back_while_it_is_held_on_is_told_to_redis_again():
    redis = SlowRedis()
    leases = Leases(redis)
    lease = await taken(leases, redis, 1)
    next_one = asyncio.create_task(leases.take(KEY, 2))
    answer = await redis.question(2)
    leases.give_back(KEY, lease)
    await redis.question(3)
    answer.set_result(1)
    await next_one
    await redis.question(4)
