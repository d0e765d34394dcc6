"""A question made ready."""

from dataclasses import dataclass

from generator.engine import Sampling
from generator.fusion_request import FusionRequest
from generator.policy import Policy
from generator.prompt import Turn
from retrieval.search import Passage


@dataclass(frozen=True)
class Told:
    """What comes with a question besides itself: earlier turns, oldest first, and what is wanted of the answer."""

    history: tuple[Turn, ...] = ()
    instruction: str = ""


@dataclass(frozen=True)
class Generation:
    """What to send to the engine; `conditioned`: whether its chunks have two readings."""

    token_ids: list[int]
    request: FusionRequest
    sampling: Sampling
    fingerprint: str
    conditioned: bool
    history_tokens: int


@dataclass(frozen=True)
class Asked:
    """`owner` asked, in `conversation_id` unless that is None.

    `arrived` is a `perf_counter` time; `generation` is None where no passage was found. `searched_with`: the earlier
    question that was searched beside this one.
    """

    request_id: str
    tenant: str
    owner: str
    question: str
    policy: Policy
    arrived: float
    retrieval_ms: float
    passages: tuple[Passage, ...]
    generation: Generation | None
    conversation_id: str | None = None
    resumable: bool = False
    debug: bool = False
    searched_with: str | None = None
