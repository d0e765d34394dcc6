"""What the catalog refuses.

PrereadError
├── BadInput
│   ├── UnstorableText       a name or text that a database cannot hold (NUL, lone surrogate)
│   ├── BadLabel             a collection or tag that cannot be one
│   ├── TooManyLabels        more collections or tags than a document may have
│   └── BadCursor            no place in a list that a page of it has named
├── NotFound
│   ├── DocumentNotFound     no such document for this tenant
│   ├── KeyNotFound          no such API key for this tenant
│   └── UserNotFound         no such user for this tenant
├── Conflict
│   ├── InvalidTransition    the document's state does not allow this step
│   ├── UserExists           the name is taken
│   ├── LastAdmin            nobody could administer the tenant afterwards
│   └── WorkRefused          the caller no longer works on this document: stop, write nothing more
│       ├── DocumentGone         it is being deleted, or is deleted already
│       ├── ClaimLost            another worker holds it, or its work was restarted
│       └── VersionRetired       newer bytes, or a deletion, took this version's place
├── Unavailable
│   └── DatabaseUnavailable  the database cannot be reached, is full, or stays locked
└── SetupError
    └── SchemaError          the database was made by another Preread
"""

from app.core.errors import BadInput, Conflict, NotFound, SetupError, Unavailable


class UnstorableText(BadInput):
    code = "unstorable_text"


class BadLabel(BadInput):
    code = "bad_label"


class TooManyLabels(BadInput):
    code = "too_many_labels"


class BadCursor(BadInput):
    code = "bad_cursor"


class DocumentNotFound(NotFound):
    code = "document_not_found"


class KeyNotFound(NotFound):
    code = "key_not_found"


class UserNotFound(NotFound):
    code = "user_not_found"


class UserExists(Conflict):
    code = "user_exists"


class LastAdmin(Conflict):
    code = "last_admin"


class InvalidTransition(Conflict):
    code = "invalid_transition"


class WorkRefused(Conflict):
    """A worker's write that came too late; nothing was written."""

    code = "work_refused"


class DocumentGone(WorkRefused):
    code = "document_gone"


class ClaimLost(WorkRefused):
    code = "claim_lost"


class VersionRetired(WorkRefused):
    code = "version_retired"


class DatabaseUnavailable(Unavailable):
    code = "database_unavailable"


class SchemaError(SetupError):
    code = "schema_error"
