"""What the gate measured: figures for people, rows for the choice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean as average
from typing import Any

from benchmarks.examiner import Examined
from benchmarks.gate_choice import REFERENCE, Bound, Gate, Kept, Row
from benchmarks.variant import Variant
from benchmarks.verdict import Verdict
from benchmarks.verdicts import cost, quality
from generator.conditioning import Conditioning

REFERENCE_VARIANT = Variant(REFERENCE, Conditioning.OFF)


@dataclass(frozen=True)
class Measured:
    """The questions of each set, by its name, every one asked under every variant and under the reference."""

    sets: Mapping[str, Sequence[Examined]]

    def gate(self, bound: Bound) -> Gate:
        floors = tuple(_kept([each.floor for each in found]) for found in self.sets.values())
        return Gate(floors, self.row(REFERENCE_VARIANT).sets, bound)

    def row(self, variant: Variant) -> Row:
        columns = self._columns(variant)
        recompute = average(each.effective_recompute or 0.0 for column in columns.values() for each in column)
        return Row(variant.policy, variant.conditioning, recompute, tuple(map(_kept, columns.values())))

    def figures(self, variant: Variant) -> dict[str, Any]:
        """Every figure of a variant with its interval, set by set."""
        sets = {name: {**quality(column), **cost(column)} for name, column in self._columns(variant).items()}
        return {"policy": variant.policy, "conditioning": str(variant.conditioning), "sets": sets}

    def circumstances(self) -> dict[str, Any]:
        """What was asked, and what two exact runs differ by."""
        return {
            "data": ", ".join(f"{name} (n = {len(found)})" for name, found in self.sets.items()),
            "sets": {
                name: {
                    "n": len(found),
                    "chunks": average(len(each.asked.pieces) for each in found),
                    "context_tokens": average(sum(len(piece.ids) for piece in each.asked.pieces) for each in found),
                    "floor": quality([each.floor for each in found]),
                }
                for name, found in self.sets.items()
            },
        }

    def _columns(self, variant: Variant) -> dict[str, list[Verdict]]:
        return {name: [each.verdicts[variant] for each in found] for name, found in self.sets.items()}


def _kept(column: Sequence[Verdict]) -> Kept:
    return Kept(average(each.kl_mean for each in column), average(each.identical for each in column))
