"""The models that OpenAI's clients can name."""

from app.web.openai.errors import ModelNotFound
from app.web.schemas.ask import CacheMode
from app.web.schemas.openai import ModelList, ModelOut

MODELS = {"preread": CacheMode.AUTO, "preread:exact": CacheMode.OFF}
"""With the policy in force, and with everything computed."""

_CREATED = 1_764_547_200


def model_list() -> ModelList:
    return ModelList(data=[_model(name) for name in MODELS])


def model(name: str) -> ModelOut:
    """Raises ModelNotFound."""
    cache_mode(name)
    return _model(name)


def cache_mode(name: str) -> CacheMode:
    """Raises ModelNotFound."""
    if name not in MODELS:
        raise ModelNotFound("model", f"There is no model {name!r}.", f"There are: {', '.join(MODELS)}.")
    return MODELS[name]


def _model(name: str) -> ModelOut:
    return ModelOut(id=name, created=_CREATED, owned_by="preread")
