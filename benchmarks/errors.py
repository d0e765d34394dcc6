"""The benchmarks' errors.

PrereadError
├── BadInput
│   └── BadData             a data set's path or file is not what was named
├── SetupError
│   └── NotFused            this model is served exactly: there is nothing to compare
└── QuestionFailed          one question of a run could not be measured
"""

from app.core.codes import Code
from app.core.errors import BadInput, PrereadError, SetupError


class BadData(BadInput):
    code = Code.BAD_DATA


class NotFused(SetupError):
    code = Code.NOT_FUSED


class QuestionFailed(PrereadError):
    code = Code.QUESTION_FAILED
