"""The profile: whether chunk KV can be stored small."""

from app.cli.checks.finding import Finding, failed_by, ok, warn
from app.cli.model_folder import known_folder
from app.core.errors import PrereadError
from app.core.settings import Settings
from generator.fingerprint import model_fingerprint
from generator.in_force import effective_codec
from kvstore.codecs.codecs import LOSSLESS, Codecs


def check_profile(settings: Settings) -> Finding:
    name, folder = "chunk KV", known_folder(settings)
    if folder is None:
        return ok(name, "its preset is not known before the model is here")
    codecs = Codecs.beside(settings.profiles_dir)
    try:
        codec = effective_codec(settings, model_fingerprint(folder, settings.effective_dtype), codecs)
    except PrereadError as error:
        return failed_by(name, error)
    if codec is LOSSLESS and not settings.kv_preset:
        return warn(
            name,
            "stored lossless, since this model has no profile",
            "preread calibrate makes one, in minutes; chunk KV then takes a sixth of the space or less.",
        )
    profile = f" with the profile {codec.profile_id}" if codec.profile_id else ""
    return ok(name, f"stored with the preset {codec.name}{profile}")
