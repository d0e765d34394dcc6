"""The gate: whether it is known which policy keeps this model's answers."""

from app.cli.checks.finding import Finding, failed_by, ok, warn
from app.cli.model_folder import known_folder
from app.core.settings import Settings
from generator.fingerprint import model_fingerprint
from generator.gate import gate_or_conservative, gate_problem

_MEASURE = "preread bench gate --documents measures it on your documents; --data and --set on a question set."
_UNLIKE = 2


def check_gate(settings: Settings) -> Finding:
    name, folder = "gate", known_folder(settings)
    if settings.policy and settings.conditioning != "auto":
        return ok(name, f"not asked: {settings.policy}, conditioning {settings.conditioning} are set")
    if folder is None:
        return ok(name, "not known before the model is here")
    fingerprint = model_fingerprint(folder, settings.effective_dtype)
    problem = gate_problem(settings.state_dir, fingerprint)
    if problem is not None:
        return failed_by(name, problem)
    result = gate_or_conservative(settings.state_dir, fingerprint)
    if not result.measured:
        return warn(name, result.summary, _MEASURE)
    longer, shorter = max(result.chunk_tokens, settings.chunk_tokens), min(result.chunk_tokens, settings.chunk_tokens)
    if longer > _UNLIKE * shorter:
        return warn(name, f"{result.summary}; yours have {settings.chunk_tokens}", _MEASURE)
    return ok(name, result.summary)
