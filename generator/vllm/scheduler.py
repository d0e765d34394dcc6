"""vLLM's scheduler, with turns: questions go before pre-reading.

Where and why it differs:

1. Requests that capture are held back, waiting or running, in steps that are not theirs (`turns`): vLLM's own
   priorities order the queue only, and would go on with whatever runs.
2. One of them is computed at a time, and a step of theirs may be cut smaller than `max_num_batched_tokens`: that is how
   long a question which comes meanwhile has to wait.
3. They stand behind all others in the running list, so that they are preempted first.
"""

from typing import TYPE_CHECKING, Any

from vllm.v1.core.sched.scheduler import Scheduler
from vllm.v1.request import Request

from generator.engine_config import EngineConfig
from generator.fusion_request import FIELD
from generator.vllm.connector import FusionConnector
from generator.vllm.turns import Turns

if TYPE_CHECKING:
    from vllm.v1.core.sched.output import SchedulerOutput

    from generator.vllm.scheduler_side import SchedulerSide


class TurnTakingScheduler(Scheduler):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        transfer = self.vllm_config.kv_transfer_config
        assert transfer is not None
        config = EngineConfig.from_json(transfer.kv_connector_extra_config)
        self._turns = Turns(config.reading_step_tokens)
        self._step_tokens = self.max_num_scheduled_tokens

    @property
    def _side(self) -> "SchedulerSide":
        assert isinstance(self.connector, FusionConnector)
        return self.connector.scheduler_side

    def schedule(self, throttle_prefills: bool = False) -> "SchedulerOutput":
        readings = [request for request in self.running if _captures(request)]
        questions = [request for request in self.running if not _captures(request)]
        waiting = [_captures(request) for request in self.waiting]
        starting = not all(waiting) or any(each.num_output_tokens == 0 for each in questions)
        turn = self._turns.next(starting=starting, answering=bool(questions), wanted=bool(readings) or any(waiting))
        self._side.readings_that_may_join = 1 if turn.reads and not readings else 0
        self.running = questions + readings if turn.reads else questions
        if turn.reads and turn.tokens is not None and not starting:
            self.max_num_scheduled_tokens = min(self._step_tokens, len(questions) + turn.tokens)
        try:
            return super().schedule(throttle_prefills)
        finally:
            self.max_num_scheduled_tokens = self._step_tokens
            if not turn.reads:
                self.running = self.running + readings


def _captures(request: Request) -> bool:
    ours = (request.kv_transfer_params or {}).get(FIELD)
    return isinstance(ours, dict) and bool(ours.get("capture"))
