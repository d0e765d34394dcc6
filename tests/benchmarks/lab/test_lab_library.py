"""Readings: what a chunk was read behind, and that the first chunk is always exact."""

import pytest
import torch
from lab_model import LetterTokenizer, tiny_exact, tiny_model

from benchmarks.lab.dense import DenseModel
from benchmarks.lab.exact import ExactRun
from benchmarks.lab.library import Library
from benchmarks.lab.passage import parse_passage, passage_ids, separator_ids
from benchmarks.lab.reading import PieceKV, take
from generator.preamble import Preamble


@pytest.fixture(scope="module")
def model() -> DenseModel:
    return tiny_model()


@pytest.fixture(scope="module")
def exact(model: DenseModel) -> ExactRun:
    return tiny_exact(model)


@pytest.fixture
def library(model: DenseModel, exact: ExactRun) -> Library:
    return Library(model, LetterTokenizer(), Preamble(tuple(exact.ids[:6].tolist()), ()))


def prefilled(model: DenseModel, before: list[int], ids: list[int]) -> PieceKV:
    """What a plain prefill of `before` and `ids` computes for `ids`."""
    everything = torch.tensor([*before, *ids])
    cache = model.empty_cache(len(everything))
    model.forward(cache, everything, torch.arange(len(everything)))
    slots = torch.arange(len(before), len(everything))
    return take(model, cache, slots, slots)


def same(one: PieceKV, other: PieceKV) -> bool:
    return torch.allclose(one.keys, other.keys, atol=2e-5) and torch.allclose(one.values, other.values, atol=2e-5)


@pytest.mark.parametrize(
    "reading", ["alone", "town30", "meta/blank", "noise12/none", "product20", "document", "neighbour"]
)
def test_a_reading_is_the_prefill_of_preamble_passage_separator_and_chunk(
    model: DenseModel, exact: ExactRun, library: Library, reading: str
) -> None:
    name, tokenizer, preamble = parse_passage(reading), LetterTokenizer(), exact.ids[:6].tolist()
    passages = {
        "alone": [],
        "neighbour": [*exact.chunks[0].ids, *separator_ids(tokenizer, name)],
        # These chunks have no text before them in their document.
        "document": [*passage_ids(tokenizer, "town", 170), *separator_ids(tokenizer, name)],
    }
    own = (
        [*passage_ids(tokenizer, name.kind, name.tokens), *separator_ids(tokenizer, name)]
        if name.kind not in passages
        else []
    )
    wanted = prefilled(model, [*preamble, *passages.get(name.kind, own)], list(exact.chunks[1].ids))
    assert same(library.piece(exact, 1, reading), wanted)


def test_the_first_chunk_and_the_preamble_are_exact_in_every_reading(exact: ExactRun, library: Library) -> None:
    base = library.base(exact, "town30")
    assert torch.equal(base.keys[:, :, :26], exact.cache.keys[:, :, :26])
    assert not torch.allclose(base.values[:, :, 28:48], exact.cache.values[:, :, 28:48])


def test_numbers_are_read_alone_or_in_the_chunks_company(model: DenseModel, exact: ExactRun, library: Library) -> None:
    number, preamble, tokenizer = exact.ids[26:28].tolist(), exact.ids[:6].tolist(), LetterTokenizer()
    slots = torch.arange(26, 28)
    alone = take(model, library.base(exact, "town30"), slots, slots)
    company = take(model, library.base(exact, "town30/all"), slots, slots)
    assert same(alone, prefilled(model, preamble, number))
    assert same(company, prefilled(model, [*preamble, *passage_ids(tokenizer, "town", 30)], number))


def test_a_gap_moves_only_the_positions(model: DenseModel, exact: ExactRun, library: Library) -> None:
    """Layer 0 does not depend on what stands before, so un-rotated it is the same wherever a chunk was read."""
    near, far = library.piece(exact, 1, "alone"), library.piece(exact, 1, "gap300")
    first = slice(0, model.kv_heads)
    torch.testing.assert_close(near.keys[:, first], far.keys[:, first], atol=1e-4, rtol=1e-4)
    assert not torch.allclose(near.values[:, -1], far.values[:, -1], atol=1e-3)
