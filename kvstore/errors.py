"""The errors of `kvstore`.

    PrereadError
    ├── CorruptBlob        500  the bytes are not a whole, valid blob
    ├── ForeignBlob        500  a valid blob, but of other tokens, another model, preamble, reading or profile
    ├── StaleProfile       500  a valid blob, coded with a profile that is not here any more
    ├── CorruptStaging     500  a staged capture is missing, incomplete or damaged
    ├── BadInput
    │   ├── BadTokenIds    422  not a sequence of unsigned 32-bit integers
    │   ├── BadName        422  a tenant, key or hash that is not spelled as one
    │   ├── BadChunkKV     422  tensors that do not make up chunk KV, or that a codec cannot hold
    │   ├── BadProfile     422  a model profile that cannot be read, does not fit, or lacks what is asked of it
    │   └── TooLarge       422  more than the format or a tier can hold
    └── Unavailable
        └── TierDown       503  a storage tier does not answer
            └── ReadOnlyStore   a write, in a process that only reads chunk KV

A corrupt or foreign blob is never an error to someone who asks: the store turns it into a miss.
"""

from app.core.codes import Code
from app.core.errors import BadInput, PrereadError, Unavailable


class CorruptBlob(PrereadError):
    code = Code.CORRUPT_BLOB


class ForeignBlob(PrereadError):
    code = Code.FOREIGN_BLOB


class StaleProfile(PrereadError):
    code = Code.STALE_PROFILE


class CorruptStaging(PrereadError):
    code = Code.CORRUPT_STAGING


class BadTokenIds(BadInput):
    code = Code.BAD_TOKEN_IDS


class BadName(BadInput):
    code = Code.BAD_KEY


class BadChunkKV(BadInput):
    code = Code.BAD_CHUNK_KV


class BadProfile(BadInput):
    code = Code.BAD_PROFILE


class TooLarge(BadInput):
    code = Code.TOO_LARGE


class TierDown(Unavailable):
    code = Code.TIER_DOWN


class ReadOnlyStore(TierDown):
    code = Code.READ_ONLY_STORE
