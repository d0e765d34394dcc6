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

from app.core.errors import BadInput, PrereadError, SetupError, Unavailable


class BadPolicy(BadInput):
    code = "bad_policy"


class BadFusionRequest(BadInput):
    code = "bad_fusion_request"


class TooLittleText(BadInput):
    code = "too_little_text"


class QuestionTooLong(BadInput):
    code = "question_too_long"


class ModelNotFound(SetupError):
    code = "model_not_found"


class BadGate(SetupError):
    code = "bad_gate"


class EnginesDiffer(SetupError):
    code = "engines_differ"


class TokenizerUnavailable(SetupError):
    code = "tokenizer_unavailable"


class EngineUnavailable(Unavailable):
    code = "engine_unavailable"


class EngineFailed(PrereadError):
    code = "engine_failed"
    status = 502


class CaptureFailed(EngineFailed):
    code = "capture_failed"
