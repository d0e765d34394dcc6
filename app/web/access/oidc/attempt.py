"""One browser's way to the provider and back, sealed in a cookie of its own."""

import hmac
import json
import secrets
import time
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import asdict, dataclass
from hashlib import sha256

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.core.settings import Settings
from app.web.access.oidc.errors import AttemptLost

LIFE_SECONDS = 600

_RANDOM_BYTES = 32
_KEY_BYTES = 32
_HINT = "Begin again on Preread's page, at the address in PREREAD_PUBLIC_URL, with cookies allowed."


@dataclass(frozen=True)
class Attempt:
    """`state` comes back with the browser, `nonce` in the id token; `verifier` goes with the code (PKCE).

    `following` is the page to show then.
    """

    state: str
    nonce: str
    verifier: str
    following: str

    @classmethod
    def new(cls, following: str) -> "Attempt":
        state, nonce, verifier = (secrets.token_urlsafe(_RANDOM_BYTES) for _ in range(3))
        return cls(state, nonce, verifier, following)

    @property
    def challenge(self) -> str:
        """RFC 7636, section 4.2: S256."""
        return urlsafe_b64encode(sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()


class Seal:
    """Encrypts and signs attempts; what is older than ten minutes it does not open."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.time) -> None:
        self._fernet = Fernet(_key(settings))
        self._clock = clock

    def close(self, attempt: Attempt) -> str:
        return self._fernet.encrypt_at_time(json.dumps(asdict(attempt)).encode(), self._now()).decode()

    def open(self, sealed: str, state: str) -> Attempt:
        """Raises AttemptLost, also where `state` is another attempt's."""
        try:
            opened = self._fernet.decrypt_at_time(sealed.encode(), LIFE_SECONDS, self._now())
        except InvalidToken as error:
            raise AttemptLost("This sign-in was not begun in this browser, or too long ago.", _HINT) from error
        attempt = Attempt(**json.loads(opened))
        if not hmac.compare_digest(attempt.state.encode(), state.encode()):
            raise AttemptLost("The provider came back with another sign-in's state.", _HINT)
        return attempt

    def _now(self) -> int:
        return int(self._clock())


def _key(settings: Settings) -> bytes:
    """The same in all web processes where they share a secret, else one of this process."""
    shared = settings.internal_secret.get_secret_value() + settings.oidc_client_secret.get_secret_value()
    if not shared:
        return Fernet.generate_key()
    key = HKDF(SHA256(), _KEY_BYTES, salt=None, info=b"preread oidc attempt").derive(shared.encode())
    return urlsafe_b64encode(key)
