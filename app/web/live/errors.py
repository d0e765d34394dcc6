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

from app.core.errors import Conflict, Unavailable


class AnswerEnded(Conflict):
    code = "answer_ended"


class ServiceStopping(Unavailable):
    code = "service_stopping"


class AnswerLost(Unavailable):
    code = "answer_lost"


class StopUnavailable(Unavailable):
    code = "stop_unavailable"


class ResumeUnavailable(Unavailable):
    code = "resume_unavailable"
