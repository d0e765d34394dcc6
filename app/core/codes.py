"""Every code that an error, a failed document or a failed try has: stable, and never reused for something else."""

from enum import StrEnum
from typing import Self


class Code(StrEnum):
    """The second string is what it means, for docs/api.md; `app/core/remedies.py` has what to do about it."""

    meaning: str

    def __new__(cls, value: str, meaning: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member

    # Of any room.
    INTERNAL_ERROR = "internal_error", "Something went wrong inside Preread."
    BAD_INPUT = "bad_input", "What was sent cannot be used; `errors` names each fault."
    NOT_FOUND = "not_found", "There is nothing at this path."
    CONFLICT = "conflict", "It contradicts the present state."
    UNAVAILABLE = "unavailable", "A part that Preread needs does not answer."
    SETUP_ERROR = "setup_error", "This machine or its settings are not ready."

    # Of HTTP.
    HTTP_ERROR = "http_error", "The request was refused; `detail` says why."
    BAD_REQUEST = "bad_request", "The request cannot be parsed as HTTP."
    MALFORMED_BODY = "malformed_body", "The body is not what its content type says, such as JSON that is cut off."
    METHOD_NOT_ALLOWED = "method_not_allowed", "The path is there, but not for this method; `Allow` names those it has."
    BODY_TOO_LARGE = "body_too_large", "The body is larger than this route takes."
    UNSUPPORTED_MEDIA_TYPE = "unsupported_media_type", "The body is of a content type that the route does not take."
    FORBIDDEN = "forbidden", "Whoever asks may not do this."
    IDEMPOTENCY_MISMATCH = "idempotency_mismatch", "The idempotency key was used before, with another request."
    IDEMPOTENCY_IN_PROGRESS = "idempotency_in_progress", "The first request with this idempotency key is not done yet."
    OVERLOADED = "overloaded", "As many answers are being made, and as many questions wait, as may."
    SERVICE_STOPPING = "service_stopping", "Preread is being stopped; an answer that was under way is incomplete."
    UNGUARDED_ROUTE = "unguarded_route", "A route does not say who may call it: Preread does not start."

    # Of questions.
    BAD_POLICY = "bad_policy", "The policy is none that there is."
    CONTRADICTORY_CACHE = "contradictory_cache", "The policy computes everything, and `cache` forbids it."
    CACHE_INCOMPLETE = "cache_incomplete", "A chunk has no KV, and `cache` is `only`."
    QUESTION_TOO_LONG = "question_too_long", "Question, passages and answer do not fit the model."
    CONVERSATION_NOT_FOUND = "conversation_not_found", "There is no such conversation, or it is somebody else's."
    ANSWER_NOT_FOUND = "answer_not_found", "There is no such answer, or it is somebody else's."
    ANSWER_ENDED = "answer_ended", "The answer has ended; there is nothing left to stop."
    ANSWER_LOST = "answer_lost", "The process that answered is gone; the answer is incomplete."
    STOP_UNAVAILABLE = "stop_unavailable", "Another web process makes the answer, and cannot be told to stop."
    RESUME_UNAVAILABLE = "resume_unavailable", "The answer's events were not kept, or cannot be read."
    INVALID_VALUE = "invalid_value", "On `/v1`: a field is not what it may be; `param` names it."
    UNSUPPORTED_PARAMETER = "unsupported_parameter", "On `/v1`: a field that changes answers, and does nothing here."
    UNKNOWN_MODEL = "unknown_model", "On `/v1`, where it is `model_not_found`: there is no such model."
    ENGINE_UNAVAILABLE = "engine_unavailable", "The engine does not answer, or is still loading its model."
    ENGINE_FAILED = "engine_failed", "The engine broke off, or refused the request."

    # Of who calls.
    UNAUTHENTICATED = "unauthenticated", "No credentials came, or none that are good."
    KEY_EXPIRED = "key_expired", "The API key was good, and has expired."
    KEY_REVOKED = "key_revoked", "The API key was good, and was revoked."
    SIGN_IN_FAILED = "sign_in_failed", "There is no such name, or it is not its password."
    CSRF = "csrf", "Signed in by cookie, a browser may have been made to send this."
    RATE_LIMITED = "rate_limited", "More requests a minute than the key may send."
    TOO_MANY_AT_ONCE = "too_many_at_once", "More requests at once than the key may have open."
    TOO_MANY_ATTEMPTS = "too_many_attempts", "Too many tries to sign in, by this name or from this address."
    BAD_ACCESS_NAME = "bad_access_name", "No name that a key or user may have."
    BAD_SCOPES = "bad_scopes", "Scopes that the role does not have."
    WEAK_PASSWORD = "weak_password", "A password that is too short, or too long."
    NOBODY_KNOWN = "nobody_known", "Nobody could sign in: web listens on loopback alone until there is a user or a key."
    NO_API_KEY = "no_api_key", "The command line has no API key to send."
    NO_INTERNAL_SECRET = "no_internal_secret", "Web and workers on several hosts need a secret of their own."
    KEY_NOT_FOUND = "key_not_found", "There is no such API key."
    USER_NOT_FOUND = "user_not_found", "There is no such user."
    USER_EXISTS = "user_exists", "The name is taken."
    LAST_ADMIN = "last_admin", "Nobody could administer the tenant afterwards."
    USER_DISABLED = "user_disabled", "The user may not sign in any more."

    # Of single sign-on (docs/oidc.md).
    OIDC_FAILED = "oidc_failed", "Signing in through the provider failed."
    OIDC_OFF = "oidc_off", "No provider is set."
    OIDC_STATE = "oidc_state", "The sign-in was not begun in this browser, or took too long."
    OIDC_DENIED = "oidc_denied", "The provider, or the user there, said no."
    OIDC_REFUSED = "oidc_refused", "The provider does not take what Preread sends."
    OIDC_TOKEN = "oidc_token", "The provider's token is not what it must be."
    OIDC_NO_ROLE = "oidc_no_role", "None of the user's groups has a role."
    OIDC_TENANT = "oidc_tenant", "The token names no tenant, or none that can be one."
    OIDC_UNAVAILABLE = "oidc_unavailable", "The provider does not answer."

    # Of documents and what is kept of them.
    DOCUMENT_NOT_FOUND = "document_not_found", "There is no such document."
    JOB_NOT_FOUND = "job_not_found", "There is no such job."
    RUN_NOT_FOUND = "run_not_found", "There is no such run."
    SYNC_NOT_FOUND = "sync_not_found", "There is no such sync."
    SYNC_FOLDER_NOT_FOUND = "sync_folder_not_found", "No folder of this name is kept in step."
    FILE_MISSING = "file_missing", "The document's file is not there, or it has no text yet."
    FILE_TOO_LARGE = "file_too_large", "The file is larger than `PREREAD_MAX_UPLOAD_BYTES`."
    EMPTY_FILE = "empty_file", "The file has no bytes."
    BAD_NAME = "bad_name", "A document cannot have this name: it is blank or too long."
    UNSTORABLE_TEXT = "unstorable_text", "A name or text that a database cannot hold (NUL, lone surrogate)."
    BAD_LABEL = "bad_label", "A collection or tag that cannot be one."
    TOO_MANY_LABELS = "too_many_labels", "The document would have more collections or tags than it may."
    BAD_CURSOR = "bad_cursor", "`after` is not what a page of the list has named."
    INVALID_TRANSITION = "invalid_transition", "What it is at does not allow this step."

    # Of URLs.
    BAD_URL = "bad_url", "No http or https URL, or one with credentials in it."
    URL_NOT_ALLOWED = "url_not_allowed", "Its host, or one it leads to, is not in `PREREAD_URL_HOSTS`."
    ADDRESS_NOT_PUBLIC = "address_not_public", "Its host is at a private address, or one otherwise not public."
    URL_UNREACHABLE = "url_unreachable", "There is no answer, a broken one, or none in time."
    URL_REFUSED = "url_refused", "The answer is an error."
    URL_UNREADABLE = "url_unreadable", "It leads round and round, or is encoded in a way that is not read."

    # Why a document has failed.
    FILE_REFUSED = "file_refused", "The file cannot be used."
    UNSUPPORTED_TYPE = "unsupported_type", "A kind of file that is not read: an image, an archive, an old Office file."
    UNKNOWN_TYPE = "unknown_type", "Neither text nor any kind of file that is known."
    UNREADABLE_FILE = "unreadable_file", "It is damaged or cut off."
    PAGE_LOOP = "page_loop", "Its pages contain each other."
    PASSWORD_PROTECTED = "password_protected", "It opens with a password only, or is encrypted."
    UNDECODABLE_TEXT = "undecodable_text", "Its character encoding cannot be told for certain."
    NO_TEXT_FOUND = "no_text_found", "Its pages are pictures: a scan."
    EMPTY_DOCUMENT = "empty_document", "There is nothing in it."
    TOO_MUCH_TEXT = "too_much_text", "It has more characters than a document may."
    ARCHIVE_BOMB = "archive_bomb", "It unpacks to far more than its size."
    TOO_COMPLEX = "too_complex", "Reading it takes too long, or it is nested too deeply."
    OUT_OF_MEMORY = "out_of_memory", "Reading it takes more memory than a file may."
    PARSER_CRASHED = "parser_crashed", "The process that read it broke down."
    PARSER_KILLED = "parser_killed", "The process that read it was ended from outside, again and again."
    CHUNK_LIMIT_TOO_SMALL = "chunk_limit_too_small", "One character alone has more tokens than a chunk may."
    TIME_LIMIT = "time_limit", "Its work took longer than `PREREAD_TASK_SECONDS`, again and again."
    WORKER_LOST = "worker_lost", "The worker ended in the middle of it, again and again."
    UNEXPECTED_ERROR = "unexpected_error", "Its work broke off in a way that nobody expected."

    # Why a file of a folder was passed over.
    CHANGING = "changing", "It changed while it was read: the next sync takes it."
    UNREADABLE = "unreadable", "It cannot be opened."
    FOLDER_UNUSABLE = "folder_unusable", "The folder is not there, cannot be read, or nothing is in it."

    # Of parts that do not answer.
    DATABASE_UNAVAILABLE = "database_unavailable", "The database cannot be reached, is full, or stays locked."
    QUEUE_UNAVAILABLE = "queue_unavailable", "The queue's Redis does not answer."
    WORKER_AWAY = "worker_away", "No worker answers."
    INDEX_UNAVAILABLE = "index_unavailable", "The index does not answer."
    PARSER_UNAVAILABLE = "parser_unavailable", "This machine cannot start a process to read a file in."
    TIER_DOWN = "tier_down", "A tier of chunk KV does not answer."
    READ_ONLY_STORE = "read_only_store", "A write, in a process that only reads chunk KV."
    NOT_PURGED = "not_purged", "Chunk KV may be left in what does not answer; it is emptied later."

    # Of settings and machines.
    DIMENSION_MISMATCH = "dimension_mismatch", "Vectors of one length met an index of another."
    EMBEDDING_UNAVAILABLE = "embedding_unavailable", "The embedding model cannot be loaded."
    RERANKER_UNAVAILABLE = "reranker_unavailable", "The reranker cannot be loaded, or is none."
    INDEX_LOCKED = "index_locked", "Another process owns the local index folder."
    INDEX_REFUSED = "index_refused", "Web or the Qdrant server does not let this process use the index."
    SCHEMA_ERROR = "schema_error", "The database was made by another Preread."
    MODEL_NOT_FOUND = "model_not_found", "The model's setting names nothing usable."
    TOKENIZER_UNAVAILABLE = "tokenizer_unavailable", "The model's folder has no usable tokenizer or chat template."
    BAD_GATE = "bad_gate", "The file with the model's gate result cannot be used."
    ENGINES_DIFFER = "engines_differ", "A worker's own engine runs another model than the one that answers."
    READ_ONLY_WORKER = "read_only_worker", "A worker was started where chunk KV is only read."
    NOT_RUNNING = "not_running", "The web process does not answer."
    ALREADY_RUNNING = "already_running", "Another `preread up` owns this state folder."
    PORT_TAKEN = "port_taken", "Something else listens on one of our ports."
    MEMORY_SHORT = "memory_short", "The model would not fit this machine's memory."
    PROGRAM_MISSING = "program_missing", "A program that Preread starts is not installed."
    UNUSABLE_FOLDER = "unusable_folder", "A folder cannot be written to, or belongs to someone else."
    PROCESS_FAILED = "process_failed", "A process died while starting, or again and again, or was never ready."
    NOTHING_TO_ADD = "nothing_to_add", "There is no file of a known kind there."
    REFUSED = "refused", "Web answered with a problem, which the command shows."

    # Inside: never seen by whoever asks, but in logs.
    WORK_REFUSED = "work_refused", "A worker's write came too late; nothing was written."
    DOCUMENT_GONE = "document_gone", "The document is being deleted, or is deleted already."
    CLAIM_LOST = "claim_lost", "Another worker holds the document, or its work was restarted."
    VERSION_RETIRED = "version_retired", "Newer bytes, or a deletion, took this version's place."
    CAPTURE_FAILED = "capture_failed", "Pre-reading produced no complete chunk KV."
    BAD_FUSION_REQUEST = "bad_fusion_request", "The engine was sent a request it cannot read."
    TOO_LITTLE_TEXT = "too_little_text", "Too little text to calibrate a model's profile on."
    CORRUPT_BLOB = "corrupt_blob", "The bytes are not a whole, valid blob."
    FOREIGN_BLOB = "foreign_blob", "A valid blob, but of something else."
    STALE_PROFILE = "stale_profile", "A valid blob, coded with a profile that is not here any more."
    CORRUPT_STAGING = "corrupt_staging", "A staged capture is missing, incomplete or damaged."
    BAD_TOKEN_IDS = "bad_token_ids", "Not a sequence of unsigned 32-bit integers."
    BAD_KEY = "bad_key", "A tenant, key or hash that is not spelled as one."
    BAD_CHUNK_KV = "bad_chunk_kv", "Tensors that do not make up chunk KV, or that a codec cannot hold."
    BAD_PROFILE = "bad_profile", "A model profile that cannot be read, does not fit, or lacks what is asked of it."
    TOO_LARGE = "too_large", "Chunk KV larger than the format or a tier can hold."
    BAD_SHAPE = "bad_shape", "An array does not have the shape, dtype or range a function states."
    BAD_STREAM = "bad_stream", "An entropy-coded stream does not end where its encoder began."
    BAD_DATA = "bad_data", "A benchmark's data set is not what was named."
    NOT_FUSED = "not_fused", "This model is served exactly: a benchmark has nothing to compare."
    QUESTION_FAILED = "question_failed", "One question of a benchmark could not be measured."
