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

from app.core.errors import BadInput, PrereadError, Unavailable


class CorruptBlob(PrereadError):
    code = "corrupt_blob"


class ForeignBlob(PrereadError):
    code = "foreign_blob"


class StaleProfile(PrereadError):
    code = "stale_profile"


class CorruptStaging(PrereadError):
    code = "corrupt_staging"


class BadTokenIds(BadInput):
    code = "bad_token_ids"


class BadName(BadInput):
    code = "bad_name"


class BadChunkKV(BadInput):
    code = "bad_chunk_kv"


class BadProfile(BadInput):
    code = "bad_profile"


class TooLarge(BadInput):
    code = "too_large"


class TierDown(Unavailable):
    code = "tier_down"


class ReadOnlyStore(TierDown):
    code = "read_only_store"
