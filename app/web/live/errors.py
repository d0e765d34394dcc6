"""What can go wrong with an answer that is being made, or was.

PrereadError
├── Conflict
│   └── AnswerEnded          there is nothing left to stop
└── Unavailable
    ├── ServiceStopping      the process that answers is told to stop
    ├── AnswerLost           the process that answered is gone
    ├── StopUnavailable      the process that answers cannot be told
    └── ResumeUnavailable    the events cannot be read
"""

from collections.abc import Mapping

from app.core.codes import Code
from app.core.errors import Conflict, Unavailable


class AnswerEnded(Conflict):
    code = Code.ANSWER_ENDED


class ServiceStopping(Unavailable):
    code = Code.SERVICE_STOPPING

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Connection": "close"}  # what is sent next is to reach another process


class AnswerLost(Unavailable):
    code = Code.ANSWER_LOST


class StopUnavailable(Unavailable):
    code = Code.STOP_UNAVAILABLE


class ResumeUnavailable(Unavailable):
    code = Code.RESUME_UNAVAILABLE
