"""Reading on while the answer runs: over exact KV nothing changes, and nothing helps before it is read."""

from dataclasses import replace

import pytest
import torch
from lab_model import tiny_exact, tiny_model

from app.core.errors import BadInput
from benchmarks.lab.exact import ask, forced
from benchmarks.lab.fusing import Fused
from benchmarks.lab.metrics import kl
from benchmarks.lab.reading_on import read_on
from benchmarks.lab.variant import Options

READ_ON = Options(layers="all", on="1-2/100")


def test_over_exact_kv_the_answer_is_exact_whatever_is_made_fresh() -> None:
    model = tiny_model()
    exact = tiny_exact(model)
    rows, share = read_on(model, exact, Fused(exact.cache.copy(), 0.0, 0, exact.reused), READ_ON)
    torch.testing.assert_close(rows, exact.log_probabilities, atol=1e-4, rtol=1e-4)
    assert share == 2 * 7 / exact.context


def test_what_is_made_fresh_helps_later_tokens_and_not_the_first() -> None:
    model = tiny_model()
    exact = tiny_exact(model)
    base = exact.cache.copy()
    base.values[:, :, 28:48] += 1
    stale = forced(model, exact, base.copy())
    rows, share = read_on(model, exact, Fused(base, 0.0, 0, exact.reused), replace(READ_ON, on="1-3/1000"))
    torch.testing.assert_close(rows[0], stale[0], atol=1e-4, rtol=1e-4)
    # Before the second token all is made fresh that may be, and nothing is left for later.
    assert share == int(exact.reused.sum()) / exact.context
    assert float(kl(exact.log_probabilities, rows)[1:].sum()) < float(kl(exact.log_probabilities, stale)[1:].sum()) / 2
    torch.testing.assert_close(base.values[:, :, 28:48], exact.cache.values[:, :, 28:48] + 1)


def test_nothing_is_chosen_twice() -> None:
    model = tiny_model()
    exact = tiny_exact(model)
    left = torch.zeros_like(exact.reused)
    left[30:33] = True
    _, share = read_on(model, exact, Fused(exact.cache.copy(), 0.0, 0, left), replace(READ_ON, on="1-3/30"))
    assert share == 3 / exact.context


def test_the_answer_asks_too_where_it_is_let_look_ahead() -> None:
    model = tiny_model()
    exact = tiny_exact(model)
    alone, ahead = ask(model, exact, exact.cache.copy()), ask(model, exact, exact.cache.copy(), 2)
    assert ahead.queries[0].shape[1] == alone.queries[0].shape[1] + 2
    torch.testing.assert_close(ahead.queries[-1][:, :-2], alone.queries[-1], atol=1e-4, rtol=1e-4)


def test_a_text_that_does_not_say_when_is_refused() -> None:
    model = tiny_model()
    exact = tiny_exact(model)
    with pytest.raises(BadInput, match="does not say when"):
        read_on(model, exact, Fused(exact.cache, 0.0, 0, exact.reused), replace(READ_ON, on="soon"))
