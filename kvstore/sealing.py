"""Blobs sealed against whoever can read the place where they lie: chunk KV can reveal the document it was read from.

    seal = Seal.from_text(text)
    sealed = seal.seal(tenant, key, data)
    data = seal.open(tenant, key, sealed)

Sealed bytes: magic 8, version 2 (little-endian), key id 8, nonce 12, then the ciphertext and its tag of 16. Tenants,
store keys and lengths stay readable, and an older sealed blob can be put back in the place of its successor.
"""

import base64
import os
import re
from struct import Struct

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from app.core.errors import BadInput
from kvstore.errors import CorruptBlob, TooLarge
from kvstore.names import checked_key, checked_tenant

_SETTING = "PREREAD_KV_ENCRYPTION_KEY"
_KEY_HINT = f"Set {_SETTING} to 32 bytes as base64 or to 64 hex characters: `openssl rand -base64 32` makes them."
_HEX = re.compile(r"[0-9A-Fa-f]{64}")
# The last character carries four bits of the key: the other two are zero, or it was mistyped.
_BASE64 = re.compile(r"([A-Za-z0-9+/]{42}|[A-Za-z0-9_-]{42})[AEIMQUYcgkosw048]=?")

_MAGIC = b"\x89PRSL\r\n\x1a"
_VERSION = 1
_HEADER = Struct("<8sH8s")
_KEY_BYTES = 32
_KEY_ID_BYTES = 8
_NONCE_BYTES = 12
_TAG_BYTES = 16
_START = _HEADER.size + _NONCE_BYTES
_MOST_BYTES = 2**31 - 1 - _TAG_BYTES  # `cryptography` takes 2**31 - 1 at once, here with the tag
SEALED_EXTRA_BYTES = _START + _TAG_BYTES

_SALT = b"preread kv sealing v1"
_KEY_ID_INFO = b"key id"
_TENANT_INFO = b"tenant:"


class Seal:
    """AES-256-GCM under a key for each tenant, derived by HKDF-SHA256 from one master key. Thread-safe.

    Each sealing draws a nonce of 96 random bits. That is safe for up to 2**32 blobs a tenant and master key (NIST SP
    800-38D, 8.3).

    Args:
        master: 32 random bytes.
    Raises: BadInput for another length.
    """

    def __init__(self, master: bytes) -> None:
        if len(master) != _KEY_BYTES:
            raise BadInput(f"An encryption key is {_KEY_BYTES} bytes, not {len(master)}.", _KEY_HINT)
        self._master = master
        self._header = _HEADER.pack(_MAGIC, _VERSION, self._derive(_KEY_ID_INFO, _KEY_ID_BYTES))

    @classmethod
    def from_text(cls, text: str) -> "Seal":
        """From 32 bytes as base64, standard or URL-safe, or as 64 hex characters; space around them is ignored.

        Raises: BadInput for anything else, without repeating it.
        """
        text = text.strip()
        if _HEX.fullmatch(text):
            return cls(bytes.fromhex(text))
        if _BASE64.fullmatch(text):
            return cls(base64.urlsafe_b64decode(text.translate({ord("+"): "-", ord("/"): "_"}).rstrip("=") + "="))
        raise BadInput(f"{_SETTING} does not hold an encryption key.", _KEY_HINT)

    def seal(self, tenant: str, key: str, data: bytes | memoryview) -> bytes:
        """`data`, readable for `open` with the same tenant, store key and master key only; SEALED_EXTRA_BYTES longer.

        Raises: TooLarge from 2 GiB on; BadName.
        """
        view = memoryview(data).cast("B")
        if len(view) > _MOST_BYTES:
            raise TooLarge(f"{len(view)} bytes cannot be sealed: {_MOST_BYTES} are the most.", "Use shorter chunks.")
        nonce = os.urandom(_NONCE_BYTES)
        bound = self._bound(tenant, key)
        return b"".join((self._header, nonce, self._cipher(tenant).encrypt(nonce, view, bound)))

    def open(self, tenant: str, key: str, sealed: bytes | memoryview) -> bytes:
        """What was sealed.

        Raises: CorruptBlob for what is not sealed, cut short, altered, sealed with another master key, or moved here
            from another tenant or store key; BadName.
        """
        view = memoryview(sealed).cast("B")
        bound = self._bound(tenant, key)
        self._check_header(view)
        try:
            return self._cipher(tenant).decrypt(view[_HEADER.size : _START], view[_START:], bound)
        except InvalidTag as error:
            raise CorruptBlob("The sealed blob was altered, cut short or moved here from another name.") from error

    def _check_header(self, view: memoryview) -> None:
        if view[: len(_MAGIC)] != _MAGIC:
            raise CorruptBlob("The blob is not sealed.", f"What was stored before {_SETTING} was set is read anew.")
        if len(view) < SEALED_EXTRA_BYTES:
            raise CorruptBlob("The sealed blob was cut short.")
        _, version, _ = _HEADER.unpack_from(view)
        if version != _VERSION:
            raise CorruptBlob(f"The blob is sealed in version {version} of the format, not {_VERSION}.")
        if view[: _HEADER.size] != self._header:
            raise CorruptBlob(
                "The blob is sealed with another encryption key.",
                f"Give every process the same {_SETTING}; what was stored under another is read anew.",
            )

    def _bound(self, tenant: str, key: str) -> bytes:
        # Neither name can hold a NUL, so no two pairs of names are bound alike.
        return b"\0".join((self._header, checked_tenant(tenant).encode(), checked_key(key).encode()))

    def _cipher(self, tenant: str) -> AESGCM:
        return AESGCM(self._derive(_TENANT_INFO + tenant.encode(), _KEY_BYTES))

    def _derive(self, info: bytes, length: int) -> bytes:
        return HKDF(SHA256(), length, _SALT, info).derive(self._master)


__all__ = ["SEALED_EXTRA_BYTES", "Seal"]
