"""What the catalog refuses.

PrereadError
├── BadInput
│   ├── UnstorableText       a name or text that a database cannot hold (NUL, lone surrogate)
│   ├── BadLabel             a collection or tag that cannot be one
│   ├── TooManyLabels        more collections or tags than a document may have
│   ├── BadCursor            no place in a list that a page of it has named
│   └── IdempotencyMismatch  the key came with another request before
├── NotFound
│   ├── DocumentNotFound     no such document for this tenant
│   ├── ConversationNotFound no such conversation of this owner
│   ├── AnswerNotFound       no such answer of this owner
│   ├── KeyNotFound          no such API key for this tenant
│   └── UserNotFound         no such user for this tenant
├── Conflict
│   ├── InvalidTransition    the document's state does not allow this step
│   ├── UserExists           the name is taken
│   ├── LastAdmin            nobody could administer the tenant afterwards
│   ├── IdempotencyInProgress  the first request with the key is not done yet
│   └── WorkRefused          the caller no longer works on this document: stop, write nothing more
│       ├── DocumentGone         it is being deleted, or is deleted already
│       ├── ClaimLost            another worker holds it, or its work was restarted
│       └── VersionRetired       newer bytes, or a deletion, took this version's place
├── Unavailable
│   └── DatabaseUnavailable  the database cannot be reached, is full, or stays locked
└── SetupError
    └── SchemaError          the database was made by another Preread
"""

from app.core.codes import Code
from app.core.errors import BadInput, Conflict, NotFound, SetupError, Unavailable


class UnstorableText(BadInput):
    code = Code.UNSTORABLE_TEXT


class BadLabel(BadInput):
    code = Code.BAD_LABEL


class TooManyLabels(BadInput):
    code = Code.TOO_MANY_LABELS


class BadCursor(BadInput):
    code = Code.BAD_CURSOR


class IdempotencyMismatch(BadInput):
    code = Code.IDEMPOTENCY_MISMATCH


class DocumentNotFound(NotFound):
    code = Code.DOCUMENT_NOT_FOUND


class ConversationNotFound(NotFound):
    code = Code.CONVERSATION_NOT_FOUND


class AnswerNotFound(NotFound):
    code = Code.ANSWER_NOT_FOUND


class KeyNotFound(NotFound):
    code = Code.KEY_NOT_FOUND


class UserNotFound(NotFound):
    code = Code.USER_NOT_FOUND


class UserExists(Conflict):
    code = Code.USER_EXISTS


class LastAdmin(Conflict):
    code = Code.LAST_ADMIN


class InvalidTransition(Conflict):
    code = Code.INVALID_TRANSITION


class IdempotencyInProgress(Conflict):
    code = Code.IDEMPOTENCY_IN_PROGRESS
    retry_after_seconds = 1


class WorkRefused(Conflict):
    """A worker's write that came too late; nothing was written."""

    code = Code.WORK_REFUSED


class DocumentGone(WorkRefused):
    code = Code.DOCUMENT_GONE


class ClaimLost(WorkRefused):
    code = Code.CLAIM_LOST


class VersionRetired(WorkRefused):
    code = Code.VERSION_RETIRED


class DatabaseUnavailable(Unavailable):
    code = Code.DATABASE_UNAVAILABLE


class SchemaError(SetupError):
    code = Code.SCHEMA_ERROR
