"""Where profiles are kept: those calibrated here, and those that ship with the project."""

import logging
from collections.abc import Sequence
from pathlib import Path
from threading import Lock

from kvstore.errors import BadProfile, StaleProfile
from kvstore.profile import Profile
from kvstore.profile_file import SUFFIX, described_fingerprints, read_profile

log = logging.getLogger(__name__)

SHIPPED_PROFILES = Path(__file__).parent / "shipped"


class Profiles:
    """Folders of profiles, the first before the second. Thread-safe; a profile is read once."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = tuple(folders)
        self._read: dict[str, Profile] = {}
        self._lock = Lock()

    def by_id(self, profile_id: str) -> Profile:
        """Raises: StaleProfile when no folder has it whole."""
        with self._lock:
            if profile_id not in self._read:
                self._read[profile_id] = self._found(profile_id)
            return self._read[profile_id]

    def of_model(self, fingerprint: str) -> Profile | None:
        """The profile to code with: the newest for this model in the first folder that has one; None: not calibrated.

        Files that are no profiles are logged and passed over.
        """
        for folder in self._folders:
            paths = sorted(folder.glob(f"*{SUFFIX}"), key=lambda path: path.stat().st_mtime_ns, reverse=True)
            for path in paths:
                try:
                    if fingerprint in described_fingerprints(path):
                        return self.by_id(path.name.removesuffix(SUFFIX))
                except (BadProfile, StaleProfile) as error:
                    log.error("Passing over a profile: %s %s", error.message, error.hint)
        return None

    def _found(self, profile_id: str) -> Profile:
        problems = []
        for folder in self._folders:
            path = folder / f"{profile_id}{SUFFIX}"
            if path.is_file():
                try:
                    profile = read_profile(path)
                    if profile.id == profile_id:
                        return profile
                    problems.append(f"{path} holds the profile {profile.id}.")
                except BadProfile as error:
                    problems.append(error.message)
        why = " ".join(problems) or f"No folder has the profile {profile_id}."
        raise StaleProfile(why, "What was coded with it will be pre-read again when needed.")


__all__ = ["Profiles"]
