"""The generator's errors.

    PrereadError
    ├── BadInput
    │   ├── BadPolicy               the policy is not one we know
    │   ├── BadFusionRequest        the engine was sent a request it cannot read
    │   ├── TooLittleText           too little text to calibrate a model's profile on
    │   └── QuestionTooLong         preamble, passages, question and answer do not fit the model
    ├── SetupError
    │   ├── ModelNotFound           the model's setting names nothing usable
    │   ├── BadGate                 the file with the model's gate result cannot be used
    │   ├── EnginesDiffer           a worker's own engine runs another model than the one that answers
    │   └── TokenizerUnavailable    the model's folder has no tokenizer or chat template that can be used
    ├── Unavailable
    │   └── EngineUnavailable       the engine does not answer
    └── EngineFailed                the engine answered, then broke off or reported an error
        └── CaptureFailed           pre-reading produced no complete chunk KV
"""

from app.core.codes import Code
from app.core.errors import BadInput, PrereadError, SetupError, Unavailable


class BadPolicy(BadInput):
    code = Code.BAD_POLICY


class BadFusionRequest(BadInput):
    code = Code.BAD_FUSION_REQUEST


class TooLittleText(BadInput):
    code = Code.TOO_LITTLE_TEXT


class QuestionTooLong(BadInput):
    code = Code.QUESTION_TOO_LONG


class ModelNotFound(SetupError):
    code = Code.MODEL_NOT_FOUND


class BadGate(SetupError):
    code = Code.BAD_GATE


class EnginesDiffer(SetupError):
    code = Code.ENGINES_DIFFER


class TokenizerUnavailable(SetupError):
    code = Code.TOKENIZER_UNAVAILABLE


class EngineUnavailable(Unavailable):
    code = Code.ENGINE_UNAVAILABLE


class EngineFailed(PrereadError):
    code = Code.ENGINE_FAILED
    status = 502


class CaptureFailed(EngineFailed):
    code = Code.CAPTURE_FAILED
