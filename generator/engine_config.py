"""What the connector and the engine's routes must know, carried by `--kv-transfer-config`."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from app.core.settings import Settings
from generator.gate import gate_or_conservative
from kvstore.tiers.configured import TierOptions


@dataclass(frozen=True)
class EngineConfig:
    """`fingerprint` names the model; the folders and limits are those of the settings with the same names.

    `impact_layers`: whose attention from the question chooses under `impact`, -1 being the last; empty: three layers
    of the middle.
    `hkvd_layer`: where `hkvd` compares. Requests that name no share of fresh tokens get one between `share_floor` and
    `share_ceiling`. `step_fresh_tokens`: what requests that join one step beside running answers may compute afresh.
    `reading_step_tokens`: the most that one step pre-reads within a minute of a question.
    """

    fingerprint: str
    staging_dir: str
    tiers: TierOptions
    kv_memory_bytes: int
    profiles_dir: str = ""
    load_deadline_seconds: float = 0
    impact_layers: tuple[int, ...] = ()
    hkvd_layer: int = 1
    share_floor: float = 0.15
    share_ceiling: float = 0.15
    step_fresh_tokens: int = 512
    reading_step_tokens: int = 128

    @classmethod
    def from_settings(cls, settings: Settings, fingerprint: str) -> "EngineConfig":
        gate = gate_or_conservative(settings.state_dir, fingerprint)
        return cls(
            fingerprint=fingerprint,
            staging_dir=str(settings.effective_staging_dir),
            tiers=TierOptions.from_settings(settings),
            kv_memory_bytes=settings.kv_memory_bytes,
            profiles_dir=str(settings.profiles_dir),
            load_deadline_seconds=settings.load_deadline_seconds,
            impact_layers=_layers(settings.impact_layers) or gate.impact_layers,
            share_floor=gate.floor,
            share_ceiling=max(settings.recompute_ratio, gate.floor),
            step_fresh_tokens=settings.step_fresh_tokens,
            reading_step_tokens=settings.reading_step_tokens,
        )

    @property
    def notes_dir(self) -> Path:
        """Where the worker side leaves its status and reports for the engine's routes."""
        return Path(self.staging_dir) / "notes"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> "EngineConfig":
        tiers = TierOptions.from_json(body["tiers"])
        return cls(**{**body, "tiers": tiers, "impact_layers": tuple(body.get("impact_layers", ()))})


def _layers(text: str) -> tuple[int, ...]:
    return (-1,) if text == "last" else tuple(int(layer) for layer in text.split(",") if layer)
