"""What is measured: a policy behind a passage."""

from dataclasses import dataclass, replace

from app.core.errors import BadInput
from generator.conditioning import Conditioning
from generator.policy import Policy, PolicyName, parse_policy

EXACT = str(PolicyName.EXACT)


@dataclass(frozen=True)
class Variant:
    """`policy` as written. `layers`: those whose attention `impact` sums; none: the engine's."""

    policy: str
    conditioning: Conditioning
    layers: tuple[int, ...] = ()

    @property
    def parsed(self) -> Policy:
        return parse_policy(self.policy)

    def looking_at(self, layers: tuple[int, ...]) -> "Variant":
        """The same with these layers, where it looks at any."""
        return replace(self, layers=layers) if self.parsed.name is PolicyName.IMPACT else self

    @property
    def reading(self) -> Conditioning:
        """The readings it uses: `alone:` means opening ones whatever the conditioning."""
        return Conditioning.OFF if self.parsed.alone else self.conditioning

    @property
    def conditioned(self) -> bool:
        return self.reading is not Conditioning.OFF


def policy_names(policies: str) -> list[str]:
    """Policies as written, from a comma-separated list; exact is always among them, and first.

    Raises BadPolicy, and BadInput when one is named twice.
    """
    names = [str(parse_policy(name)) for name in policies.split(",")]
    if len(set(names)) != len(names):
        raise BadInput(f"“{policies}” names a policy twice.", "Name each policy once.")
    return [EXACT, *(name for name in names if name != EXACT)]
