"""The same calls, one after the other, on every kind of index: each answers the same."""

import random
from contextlib import ExitStack
from pathlib import Path

import pytest
from index_kinds import KINDS

from retrieval.index import ChunkIndex, IndexedChunk, Scope, SearchMode
from retrieval.nearness import Question

_WORDS = ["bridge", "river", "holiday", "leave", "travel", "allowance", "kitchen", "expense"]
_TENANTS = ["acme", "globex"]
_LABELS = ["a", "b", "c"]
_STEPS = 40


def some_of(choice: random.Random, labels: list[str]) -> list[str]:
    return sorted(choice.sample(labels, choice.randint(0, len(labels))))


def made_up(choice: random.Random) -> IndexedChunk:
    document, version = choice.randint(1, 5), choice.randint(1, 2)
    return IndexedChunk(
        chunk_id=f"chk_{document}_{version}_{choice.randint(0, 3)}",
        document_id=f"doc_{document}",
        version_id=f"ver_{document}_{version}",
        tenant=_TENANTS[document % 2],
        ordinal=0,
        text=" ".join(choice.choices(_WORDS, k=choice.randint(1, 6))),
        vector=[choice.uniform(-1, 1) for _ in range(3)],
        collections=some_of(choice, _LABELS),
        tags=some_of(choice, _LABELS),
    )


def scope(choice: random.Random) -> Scope:
    def either(values: list[str]) -> tuple[str, ...] | None:
        return tuple(some_of(choice, values)) if choice.random() < 0.4 else None

    return Scope(either([f"doc_{n}" for n in range(1, 6)]), either(_LABELS), either(_LABELS))


def step(index: ChunkIndex, choice: random.Random) -> object:
    tenant, document = choice.choice(_TENANTS), f"doc_{choice.randint(1, 5)}"
    match choice.choice(["upsert", "upsert", "search", "search", "search", "delete", "version", "label", "count"]):
        case "upsert":
            return index.upsert([made_up(choice) for _ in range(choice.randint(1, 4))])
        case "search":
            question = Question(" ".join(choice.choices(_WORDS, k=3)), [choice.uniform(-1, 1) for _ in range(3)])
            found = index.search(tenant, question, choice.randint(1, 8), scope(choice), choice.choice(list(SearchMode)))
            return [(each.chunk_id, each.document_id, round(each.cosine or 0.0, 5)) for each in found]
        case "delete":
            return index.delete_document(tenant, document)
        case "version":
            return index.delete_version(tenant, document, f"ver_{document[-1]}_{choice.randint(1, 2)}")
        case "label":
            return index.label(tenant, document, some_of(choice, _LABELS), some_of(choice, _LABELS))
        case _:
            return index.count(tenant, choice.choice([None, document]))


@pytest.mark.parametrize("seed", range(8))
def test_every_kind_of_index_answers_the_same(tmp_path: Path, seed: int) -> None:
    with ExitStack() as stack:
        indexes = {kind: stack.enter_context(KINDS[kind](tmp_path / kind)) for kind in KINDS}
        choices = {kind: random.Random(seed) for kind in KINDS}
        for number in range(_STEPS):
            answers = {kind: step(indexes[kind], choices[kind]) for kind in KINDS}
            assert len({repr(answer) for answer in answers.values()}) == 1, (number, answers)
        held = {kind: index.holdings(limit=500) for kind, index in indexes.items()}
        assert len({repr(each) for each in held.values()}) == 1
        assert held["local"].versions, "the steps left nothing to compare"
