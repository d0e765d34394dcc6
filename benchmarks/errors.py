"""The benchmarks' errors.

PrereadError
├── BadInput
│   └── BadData             a data set's path or file is not what was named
├── SetupError
│   └── NotFused            this model is served exactly: there is nothing to compare
└── QuestionFailed          one question of a run could not be measured
"""

from app.core.errors import BadInput, PrereadError, SetupError


class BadData(BadInput):
    code = "bad_data"


class NotFused(SetupError):
    code = "not_fused"


class QuestionFailed(PrereadError):
    code = "question_failed"
