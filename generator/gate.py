"""The gate: which policy and which conditioning keep a model's answers, as `preread bench gate` found.

A result is one JSON file named after the model's fingerprint, in the state folder's `gates/` or among those that ship.
A model without one runs at a conservative default.
"""

import json
import logging
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from generator.conditioning import Conditioning
from generator.errors import BadGate, BadPolicy
from generator.policy import parse_policy

log = logging.getLogger(__name__)

FORMAT = 1
NOT_MEASURED = "no gate result for this model: conservative default"
_SHIPPED = Path(__file__).parent / "gates"
_HINT = "Run `preread bench gate` again, or delete the file: the model then runs at a conservative default."


@dataclass(frozen=True)
class GateResult:
    """`policy` as written. `floor`: the share of fresh tokens under which this model's answers suffer.

    `impact_layers`: those whose attention from the question chose best; none: not calibrated. `chunk_tokens`: the chunk
    length it holds for. `provenance`: the command, machine and data it was measured with and
    the bound it met, empty for the conservative default. `table`: one row for everything that was measured.
    """

    fingerprint: str
    policy: str
    conditioning: Conditioning
    floor: float
    chunk_tokens: int
    provenance: Mapping[str, Any] = field(default_factory=dict)
    table: tuple[Mapping[str, Any], ...] = ()
    impact_layers: tuple[int, ...] = ()

    @property
    def measured(self) -> bool:
        return bool(self.provenance)

    @property
    def summary(self) -> str:
        """One line for operators."""
        if not self.measured:
            return f"{NOT_MEASURED} ({self.policy})"
        return (
            f"{self.policy}, conditioning {self.conditioning}, chunks of {self.chunk_tokens} tokens; "
            f"measured on {self.provenance.get('data', 'unnamed data')}"
            f"{'' if self.provenance.get('within_bound', True) else ': the nearest, nothing was within the bound'}"
        )


def conservative(fingerprint: str = "") -> GateResult:
    """What a model runs at that was never measured."""
    return GateResult(fingerprint, "impact@.15", Conditioning.OFF, floor=0.15, chunk_tokens=512)


def load_gate(state_dir: Path, fingerprint: str) -> GateResult | None:
    """The result for a model: from the state folder, else the one that ships, else None.

    Never fails: a file that cannot be used is logged as an error, once, and passed over; `gate_problem` says what is
    wrong. Every question asks, so a file is read again only when it has changed.
    """
    for path in (gate_path(state_dir, fingerprint), _SHIPPED / f"{fingerprint}.json"):
        if path.is_file():
            found = path.stat()
            result = _usable(path, fingerprint, (found.st_ino, found.st_mtime_ns, found.st_size))
            if result is not None:
                return result
    return None


@lru_cache(maxsize=16)
def _usable(path: Path, fingerprint: str, version: tuple[int, int, int]) -> GateResult | None:  # noqa: ARG001
    """`version` tells one state of the file from another."""
    try:
        return read_gate(path, fingerprint)
    except BadGate as error:
        log.error("%s %s", error.message, error.hint)
        return None


def gate_or_conservative(state_dir: Path, fingerprint: str) -> GateResult:
    return load_gate(state_dir, fingerprint) or conservative(fingerprint)


def gate_problem(state_dir: Path, fingerprint: str) -> BadGate | None:
    """What is wrong with the state folder's own result; None when it is sound or there is none."""
    path = gate_path(state_dir, fingerprint)
    if path.is_file():
        try:
            read_gate(path, fingerprint)
        except BadGate as error:
            return error
    return None


def gate_path(state_dir: Path, fingerprint: str) -> Path:
    return state_dir / "gates" / f"{fingerprint}.json"


def read_gate(path: Path, fingerprint: str) -> GateResult:
    """Raises BadGate, naming the file and what to do, unless it holds a result for the model `fingerprint`."""
    try:
        result = _result(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, BadPolicy) as error:
        raise BadGate(f"The gate result {path} cannot be used: {error}.", _HINT) from error
    if result.fingerprint != fingerprint:
        raise BadGate(f"The gate result {path} is for another model, {result.fingerprint[:12]}….", _HINT)
    return result


def save_gate(path: Path, result: GateResult) -> None:
    """Write a result; readers see the old file or the whole new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    temporary.write_text(json.dumps({"format": FORMAT, **asdict(result)}, indent=1) + "\n", encoding="utf-8")
    temporary.replace(path)


def _result(body: Mapping[str, Any]) -> GateResult:
    if body["format"] != FORMAT:
        raise ValueError(f"its format is {body['format']}, not {FORMAT}")
    floor, provenance = float(body["floor"]), dict(body["provenance"])
    if not 0 <= floor <= 1:
        raise ValueError(f"its floor {floor} is not between 0 and 1")
    if not provenance:
        raise ValueError("it does not say how it was measured")
    return GateResult(
        fingerprint=str(body["fingerprint"]),
        policy=str(parse_policy(body["policy"])),
        conditioning=Conditioning(body["conditioning"]),
        floor=floor,
        chunk_tokens=int(body["chunk_tokens"]),
        impact_layers=tuple(int(layer) for layer in body["impact_layers"]),
        provenance=provenance,
        table=tuple(body["table"]),
    )
