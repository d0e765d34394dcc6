"""Readings of a prompt's chunks, made as asked for; what does not depend on the prompt is read once."""

from collections.abc import Sequence
from dataclasses import replace

import torch

from benchmarks.lab.cache import ScatterCache
from benchmarks.lab.dense import DenseModel
from benchmarks.lab.exact import ExactRun
from benchmarks.lab.passage import MEAN_OF, PassageName, parse_passage, passage_ids, separator_ids
from benchmarks.lab.reading import PieceKV, Prefix, mean_of, place, prefix_of, read, take
from generator.chat import ChatTokenizer
from generator.fusion_request import SegmentKind
from generator.preamble import Preamble


class Library:
    """Reads chunks behind the preamble, alone or in company."""

    def __init__(self, model: DenseModel, tokenizer: ChatTokenizer, preamble: Preamble) -> None:
        self._model = model
        self._tokenizer = tokenizer
        self._preamble = preamble
        self._alone = prefix_of(model, preamble.ids)
        self._prefixes: dict[str, Prefix] = {}
        self._numbers: dict[tuple[tuple[int, ...], int], PieceKV] = {}

    def base(self, exact: ExactRun, reading: str) -> ScatterCache:
        """A context with nothing fresh: preamble and first chunk as they were read, numbers read alone, every other
        chunk in the reading `reading`; room for question and answer behind."""
        cache = self._model.empty_cache(exact.room())
        texts = [segment for segment in exact.segments if segment.kind is SegmentKind.TEXT]
        first = exact.chunk_segments[0].end
        cache.keys[:, :, :first] = exact.cache.keys[:, :, :first]
        cache.values[:, :, :first] = exact.cache.values[:, :, :first]
        numbers = [tuple(exact.ids[segment.start : segment.end].tolist()) for segment in texts]
        for segment, piece in zip(texts, self._number_pieces(numbers, parse_passage(reading)), strict=True):
            place(self._model, cache, piece, segment.start)
        for at in range(1, len(exact.chunks)):
            place(self._model, cache, self.piece(exact, at, reading), exact.chunk_segments[at].start)
        return cache

    def piece(self, exact: ExactRun, at: int, reading: str) -> PieceKV:
        """Chunk `at` of the prompt in one reading."""
        ids = exact.chunks[at].ids
        name = parse_passage(reading)
        if name.kind == "alone":
            return read(self._model, self._alone, ids)
        if name.kind == "mean":
            return mean_of([read(self._model, self._behind(kind, name), ids) for kind in MEAN_OF])
        if not name.in_prompt:
            return read(self._model, self._behind(name.kind, name), ids)
        before = exact.chunks[at].before if name.kind == "document" else exact.chunks[at - 1].ids
        if not before:
            return read(self._model, self._behind("town", name), ids)
        return read(self._model, self._prefix(before[-name.tokens :], name, None), ids)

    def _behind(self, kind: str, name: PassageName) -> Prefix:
        known = f"{kind}{name.tokens}/{name.separator}"
        if known not in self._prefixes:
            if kind == "gap":
                self._prefixes[known] = Prefix(self._alone.cache, self._alone.tokens, name.tokens)
            elif kind == "towngap":
                ids = passage_ids(self._tokenizer, "town", 170)
                self._prefixes[known] = self._prefix(ids, name, name.tokens)
            else:
                self._prefixes[known] = self._prefix(passage_ids(self._tokenizer, kind, name.tokens), name, None)
        return self._prefixes[known]

    def _prefix(self, passage: Sequence[int], name: PassageName, start: int | None) -> Prefix:
        more = torch.tensor([*passage, *separator_ids(self._tokenizer, name)])
        slots = torch.arange(self._alone.tokens, self._alone.tokens + len(more))
        cache = self._alone.cache.copy(self._alone.tokens + len(more))
        self._model.forward(cache, more, slots)
        tokens = self._alone.tokens + len(more)
        return Prefix(cache, tokens, tokens if start is None else start)

    def _number_pieces(self, numbers: list[tuple[int, ...]], name: PassageName) -> list[PieceKV]:
        if name.numbers == "chain":
            return self._chained(numbers, name)
        behind = self._alone
        if name.numbers == "all":
            behind = self._behind(name.kind, replace(name, separator="none"))
        for ids in numbers:
            if (ids, behind.tokens) not in self._numbers:
                self._numbers[ids, behind.tokens] = read(self._model, behind, ids)
        return [self._numbers[ids, behind.tokens] for ids in numbers]

    def _chained(self, numbers: list[tuple[int, ...]], name: PassageName) -> list[PieceKV]:
        """Preamble, passage, number, passage, number, … in one prefill; each number's piece."""
        ids = list(self._preamble.ids)
        spans = []
        for at, number in enumerate(numbers):
            ids += passage_ids(self._tokenizer, MEAN_OF[at % len(MEAN_OF)], name.tokens)
            spans.append(torch.arange(len(ids), len(ids) + len(number)))
            ids += number
        cache = self._model.empty_cache(len(ids))
        self._model.forward(cache, torch.tensor(ids), torch.arange(len(ids)))
        return [take(self._model, cache, span, span) for span in spans]
