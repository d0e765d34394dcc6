"""What an answer that has ended tells its trace: the engine's stages, the first token, and what was reused."""

import time

from app.core.request_context import current_request
from app.core.stages import Stage
from app.web.asked import Asked
from app.web.schemas.ask import AnswerOut
from app.web.schemas.problem import Problem
from generator.report import FusionReport

_NANOSECONDS = 1_000_000_000


def note_stages(
    asked: Asked, begun: float, first_text: float | None, report: FusionReport | None, last: object
) -> None:
    """`begun`, `first_text`: `perf_counter` times at which the engine was asked and its first text came; `last`: the
    answer's last event.

    The engine tells how long its stages took, not when: they are put one behind the other, up to the first token.
    """
    request = current_request()
    if request is None or request.stages is None:
        return
    stages = request.stages
    now, now_perf = time.time_ns(), time.perf_counter()

    def moment(perf: float) -> int:
        return now - round(_NANOSECONDS * (now_perf - perf))

    stages.facts |= {
        "preread.answer": asked.request_id,
        "preread.tenant": asked.tenant,
        "preread.policy": str(asked.policy),
        "preread.chunks": len(asked.passages),
    }
    if isinstance(last, Problem):
        stages.facts["preread.code"] = str(last.code)
    if isinstance(last, AnswerOut):
        stages.facts |= {"preread.status": str(last.status), "preread.hits": last.cache.hits}
    if asked.generation is not None:
        stages.spans.append(Stage("generate", moment(begun), now))
    if first_text is None or asked.generation is None:
        return
    stages.moments.append(("first token", moment(first_text)))
    if report is None:
        return
    stages.facts |= {"preread.tokens.reused": report.reused_tokens, "preread.tokens.fresh": report.fresh_tokens}
    ended = moment(first_text)
    for name, seconds in (("recompute", report.recompute_s), ("select", report.select_s), ("load", report.load_s)):
        began = ended - round(_NANOSECONDS * seconds)
        if seconds:
            stages.spans.append(Stage(name, began, ended))
        ended = began


__all__ = ["note_stages"]
