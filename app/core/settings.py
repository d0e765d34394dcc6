"""Every setting of Preread: environment variables `PREREAD_*`, then `.env`, then the defaults below."""

from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from tempfile import gettempdir
from typing import Annotated, Literal, Self

from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import SettingsConfigDict

from app.core.asking_settings import AskingSettings
from app.core.processor import computes_bfloat16
from app.core.sign_in_settings import SignInSettings
from app.core.sync_folders import sync_folders_from

PACKAGED_MODEL = "smollm2-135m-instruct"
PACKAGED_EMBEDDING_MODEL = "all-minilm-l6-v2"
TENANT_PATTERN = r"^[a-z0-9][a-z0-9_-]{0,62}$"

_LONGEST_SOCKET_PATH = 100  # the kernel allows 107 bytes

Port = Annotated[int, Field(ge=1, le=65535)]


class Settings(AskingSettings, SignInSettings):
    """One immutable object; each process builds it once through `get_settings`.

    A service address left empty means the embedded one: SQLite, a local Qdrant folder and a private Redis under
    `state_dir`.
    """

    model_config = SettingsConfigDict(env_prefix="PREREAD_", env_file=".env", extra="ignore", frozen=True)

    state_dir: Path = Field(Path(".preread"), description="Folder that holds everything Preread keeps.")
    models_dir: Path = Field(
        Path("~/.cache/preread/models"), description="Where packaged models are unpacked, shared between states."
    )
    tenant: str = Field("default", pattern=TENANT_PATTERN, description="Namespace of documents and KV.")

    log_format: Literal["text", "json"] = Field(
        "text", description="Log lines for people, or one JSON object a line; of web, workers, beat and engine."
    )
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field(
        "INFO", description="What is logged. Below INFO lines may hold texts of questions and documents."
    )
    otlp_endpoint: str = Field(
        "",
        pattern=r"^(https?://\S+)?$",
        description="OpenTelemetry collector (OTLP over HTTP) that traces of answers are sent to, such as "
        "http://localhost:4318; empty: none are made.",
    )

    host: str = Field("127.0.0.1", description="Address the web process listens on.")
    port: Port = Field(8100, description="Port of the pages and the API.")
    engine_host: str = Field("127.0.0.1", description="Address the engine process listens on.")
    engine_port: Port = Field(8101, description="Port the engine process listens on.")
    engine_url: str = Field("", description="Engine address; empty: the embedded engine on `engine_port`.")
    engine_urls: str = Field(
        "",
        description="Addresses of all other engines on the same chunk KV, such as workers' own, with commas between: "
        "they too must forget what is deleted. The same for web and all workers.",
    )
    worker_engine: Literal["shared", "own"] = Field(
        "shared",
        description="Which engine this worker pre-reads with: the one that answers questions, which come first there, "
        "or one of its own at `worker_engine_url`.",
    )
    worker_engine_url: str = Field("", description="Engine of this worker where `worker_engine` is own.")
    web_url: str = Field("", description="Address at which workers reach web; empty: loopback on `port`.")
    index_url: str = Field(
        "",
        description="Without a Qdrant server: address of the web process that owns the Qdrant folder, for every other "
        "web and for workers; empty: web owns the folder itself, and workers find it at `web_url`.",
    )
    database_url: str = Field("", description="SQLAlchemy URL; empty: SQLite in `state_dir`.")
    redis_url: str = Field("", description="Queue Redis; empty: the private one, on a socket in `state_dir`.")
    qdrant_url: str = Field("", description="Qdrant server; empty: a local folder owned by the web process.")
    qdrant_api_key: SecretStr = Field(
        SecretStr(""),
        description="API key of the Qdrant server, one that may write; without https in its URL it goes in the clear.",
    )
    internal_secret: SecretStr = Field(
        SecretStr(""), description="Shared by web and workers for internal routes; embedded mode makes one at start."
    )
    api_key: SecretStr = Field(
        SecretStr(""),
        description="API key that the command line sends to web; empty: the one in `state_dir`, which `preread up` "
        "makes, where web is on this machine.",
    )
    key_requests_per_minute: int = Field(
        0, ge=0, description="Most requests a minute of each API key that has no limit of its own; 0: no limit."
    )
    key_concurrent_requests: int = Field(
        0,
        ge=0,
        description="Most requests at once, open streams included, of each API key that has no limit of its own; "
        "0: no limit.",
    )
    audit_days: int = Field(400, ge=1, description="How long entries of the audit log are kept.")

    model: str = Field(PACKAGED_MODEL, description="The packaged model's name, a Hugging Face id, or a local folder.")
    dtype: Literal["auto", "bfloat16", "float16", "float32"] = Field(
        "auto",
        description="Weights and KV precision; auto: bfloat16 where the machine computes it by itself, else float32. "
        "Name it where the engine runs on another kind of machine than web.",
    )
    max_model_tokens: int = Field(8192, ge=256, description="Longest prompt plus answer the engine accepts.")
    max_batched_tokens: int = Field(4096, ge=64, description="Most tokens the engine computes in one step.")
    engine_threads: int = Field(
        0,
        ge=0,
        description="CPU threads of the engine in all; 0: all cores. Share them out where a machine has several.",
    )
    engine_kv_gib: int = Field(2, ge=1, description="Memory for vLLM's paged KV on a CPU, in GiB.")
    tensor_parallel: int = Field(1, ge=1, description="Processes that the model is split over (tensor parallelism).")
    engine_compile: bool = Field(False, description="Let torch.compile optimise the model (slower start).")
    engine_start_seconds: float = Field(300, gt=0, description="Longest wait for the engine to load its model.")

    embedding_model: str = Field(PACKAGED_EMBEDDING_MODEL, description="Packaged name, Hugging Face id, or folder.")
    chunk_tokens: int = Field(512, ge=1, le=4096, description="Most language-model tokens in one chunk.")
    top_k: int = Field(3, ge=1, le=64, description="Chunks put before the model for one question.")
    min_score: float = Field(
        0.35,
        ge=-1,
        le=1,
        description="How near the best chunk must be to a question for an answer: two thirds of the cosine similarity "
        "and one third of the share of the question's words. Chunks not half as near are not used.",
    )
    search_mode: Literal["hybrid", "rrf", "dense", "sparse"] = Field(
        "hybrid",
        description="How chunks are found: by vectors (dense), by words (sparse), or by both, with their scores added "
        "up (hybrid) or their ranks (rrf).",
    )
    diversity: float = Field(
        0, ge=0, le=1, description="How much likeness to better chunks counts against a chunk (MMR); 0: only copies go."
    )
    reranker: str = Field(
        "",
        description="Cross-encoder that orders what was found: Hugging Face id or folder; empty: none.",
    )
    rerank_candidates: int = Field(20, ge=2, le=100, description="How many of the best chunks the reranker orders.")
    max_upload_bytes: int = Field(50_000_000, ge=1, description="Largest document accepted.")
    idempotency_hours: int = Field(
        24, ge=1, le=720, description="How long an `Idempotency-Key` is remembered, with what was answered."
    )
    url_hosts: str = Field(
        "",
        description="Hosts that documents may be fetched from by URL, with commas between: `docs.example.org`, "
        "`*.example.org` for all below it, `example.org:8443` for another port than the usual; empty: none.",
    )
    url_seconds: float = Field(60, gt=0, description="Longest that fetching one URL may take, redirects included.")
    sync_folders: str = Field(
        "",
        description="Folders whose files are kept in step, on the workers' machine, as NAME=PATH;NAME=PATH; the "
        "documents are named NAME/path and are in the collection NAME.",
    )
    max_text_characters: int = Field(20_000_000, ge=1, description="Most characters of text in one document.")
    parse_seconds: float = Field(120, gt=0, description="Longest that reading the text of one file may take.")
    parse_memory_bytes: int = Field(
        2_000_000_000, ge=500_000_000, description="Most memory, as address space, for reading the text of one file."
    )

    system_prompt: str = Field("", description="System message of the preamble; empty: the one that ships.")
    policy: str = Field(
        "", description="How fresh tokens are chosen, as [alone:]NAME[@AMOUNT]; empty: the gate's choice for the model."
    )
    recompute_ratio: float = Field(
        0.15,
        gt=0,
        le=1,
        description="Largest share of the reused tokens that is computed afresh where the policy names none. Less is "
        "where that would take longer than loading, but never less than the model's floor.",
    )
    impact_layers: str = Field(
        "",
        pattern=r"^(last|\d{1,4}(,\d{1,4})*)?$",
        description="Layers whose attention from the question chooses fresh tokens, such as 8,12,16, or last; empty: "
        "those measured for the model, or some of the middle.",
    )
    step_fresh_tokens: int = Field(
        512, ge=1, description="Most tokens that questions joining one step compute afresh while answers are running."
    )
    reading_step_tokens: int = Field(
        128,
        ge=16,
        description="Most tokens that the engine pre-reads in one step within a minute of a question, which waits for "
        "such a step to end.",
    )
    readings_in_flight: int = Field(
        3, ge=1, le=16, description="Readings that a worker has under way at once: computed, compressed, stored."
    )
    conditioning: Literal["auto", "off", "neutral", "document"] = Field(
        "auto",
        description="Passage that chunks are also read behind: none, the neutral one that ships, or their own "
        "document's preceding text. auto: the gate's choice for the model.",
    )
    opening_readings: Literal["all", "first"] = Field(
        "all",
        description="Where chunks are read behind a passage, which are also read right behind the preamble: all, or "
        "those that once came first in a prompt.",
    )
    first_place_margin: float = Field(
        0,
        ge=0,
        le=2,
        description="How much less similar to the question than the best a chunk may be and yet come first, if it is "
        "read right behind the preamble and the best is not; 0: the best always comes first.",
    )
    max_answer_tokens: int = Field(256, ge=1, description="Longest answer when the request does not say.")

    kv_preset: str = Field(
        "",
        pattern=r"^([a-z0-9-]{1,32})?$",
        description="Preset in which chunk KV is stored: high, default, compact or tiny (these need the model's "
        "profile), lossless, int8, kivi4, kivi2, int4-outlier or group-int4; empty: default where the model has a "
        "profile, else lossless.",
    )
    kv_compact_preset: str = Field(
        "",
        pattern=r"^([a-z0-9-]{1,32})?$",
        description="Preset in which chunk KV is stored a second time, smaller, for when the first would take longer "
        "to load than `load_deadline_seconds`; empty: it is not.",
    )
    load_deadline_seconds: float = Field(
        0,
        ge=0,
        description="Longest a question should wait for chunk KV. What takes longer at the speed seen is loaded in "
        "`kv_compact_preset`, or computed afresh, whichever is sooner. 0: it waits for the best there is.",
    )
    kv_memory_bytes: int = Field(1_000_000_000, ge=0, description="Chunk KV held in the engine's memory.")
    kv_redis_url: str = Field("", description="Redis for chunk KV; empty: that tier is off.")
    kv_redis_ttl_seconds: int = Field(86_400, ge=1, description="Life of an entry in the Redis tier.")
    kv_disk_bytes: int = Field(20_000_000_000, ge=0, description="Chunk KV kept on disk; 0: that tier is off.")
    kv_disk_ttl_seconds: int = Field(0, ge=0, description="Life of an entry on disk; 0: until there is no room.")
    kv_eviction: Literal["value", "lru"] = Field(
        "value",
        description="What goes first where the disk is full: `value`, what saves least compute for its bytes by how "
        "often it is used; `lru`, what was used longest ago.",
    )
    kv_dir: Path | None = Field(
        None, description="Folder of the disk tier, on a local file system; empty: in `state_dir`."
    )
    kv_object_url: str = Field(
        "",
        description="Object store for chunk KV: s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX, with "
        "credentials from the usual environment variables or the machine's role; empty: that tier is off.",
    )
    kv_object_bytes: int = Field(0, ge=0, description="Chunk KV kept in the object store; 0: no limit.")
    kv_object_ttl_seconds: int = Field(0, ge=0, description="Life of an entry in the object store; 0: no end.")
    kv_object_timeout_seconds: float = Field(5, gt=0, description="Longest to wait for one request to it.")
    kv_encryption_key: SecretStr = Field(
        SecretStr(""),
        description="Seals chunk KV in Redis, on disk and in the object store: 32 bytes as base64 or hex, the same for "
        "all processes (`openssl rand -base64 32`); empty: it is stored as it is.",
    )
    kv_read_only: bool = Field(
        False,
        description="Only read chunk KV from Redis, disk and object store, for replicas beside which others pre-read: "
        "this process stores, deletes and evicts nothing there, and is no worker.",
    )
    staging_dir: Path | None = Field(None, description="Where the engine leaves raw KV; empty: in `state_dir`.")

    worker_name: str = Field(
        "celery",
        pattern=r"^[A-Za-z0-9_-]{1,60}$",
        description="Name of this worker, another for each worker on one machine.",
    )
    worker_processes: int = Field(1, ge=1, le=64, description="Celery prefork children.")
    lease_seconds: int = Field(30, ge=5, description="How long a worker may be silent before its document is retaken.")
    reconcile_seconds: int = Field(20, ge=1, description="Pause between two repairs of forgotten work.")
    task_seconds: int = Field(
        1800, ge=1, description="Longest that one task may take; half as long again and its process is ended."
    )
    task_attempts: int = Field(
        5, ge=1, le=100, description="Tries of a document's stage before it fails and waits for somebody to retry it."
    )
    retry_seconds: float = Field(
        10, gt=0, description="Pause after the first try that failed; it doubles each time, up to ten minutes."
    )
    nightly_at: str = Field("02:30", pattern=r"^([01]\d|2[0-3]):[0-5]\d$", description="When the nightly job starts.")
    nightly_until: str = Field(
        "06:00",
        pattern=r"^([01]\d|2[0-3]):[0-5]\d$",
        description="When it stops, done or not; the same as `nightly_at`: a day later.",
    )
    timezone: str = Field("UTC", description="Time zone of `nightly_at` and `nightly_until`.")
    rollup_days: int = Field(
        30, ge=2, description="Age at which five-minute counts are kept by the hour; at twelve times that, by the day."
    )
    history_days: int = Field(
        90, ge=1, description="How long ended runs, tries that count no more, and counts of dropped messages are kept."
    )

    @model_validator(mode="after")
    def _names_its_own_engine(self) -> Self:
        if self.worker_engine == "own" and not self.worker_engine_url:
            raise ValueError("worker_engine is own: worker_engine_url must say where that engine is")
        return self

    @field_validator("state_dir", "models_dir", "kv_dir", "staging_dir")
    @classmethod
    def _absolute(cls, path: Path | None) -> Path | None:
        return path and path.expanduser().absolute()

    @field_validator("sync_folders")
    @classmethod
    def _names_folders(cls, value: str) -> str:
        sync_folders_from(value)
        return value

    @property
    def effective_dtype(self) -> str:
        if self.dtype == "auto":
            return "bfloat16" if computes_bfloat16() else "float32"
        return self.dtype

    @property
    def effective_engine_url(self) -> str:
        return (self.engine_url or f"http://127.0.0.1:{self.engine_port}").rstrip("/")

    @property
    def effective_worker_engine_url(self) -> str:
        """The engine that this worker pre-reads with."""
        own = self.worker_engine_url if self.worker_engine == "own" else ""
        return (own or self.effective_engine_url).rstrip("/")

    @property
    def every_engine_url(self) -> tuple[str, ...]:
        """All engines that may hold chunk KV in their memory, the one that answers questions first."""
        others = (url.strip().rstrip("/") for url in self.engine_urls.split(","))
        urls = self.effective_engine_url, self.effective_worker_engine_url, *filter(None, others)
        return tuple(dict.fromkeys(urls))

    @property
    def effective_index_url(self) -> str:
        """Where the web process that owns the Qdrant folder listens."""
        return (self.index_url or self.effective_web_url).rstrip("/")

    @property
    def effective_web_url(self) -> str:
        return (self.web_url or f"http://127.0.0.1:{self.port}").rstrip("/")

    @property
    def effective_database_url(self) -> str:
        return self.database_url or f"sqlite:///{self.state_dir / 'preread.db'}"

    @property
    def redis_socket(self) -> Path:
        socket = self.state_dir / "run" / "redis.sock"
        if len(str(socket)) <= _LONGEST_SOCKET_PATH:
            return socket
        digest = sha256(str(self.state_dir).encode()).hexdigest()[:16]
        return Path(gettempdir()) / f"preread-{digest}" / "redis.sock"

    @property
    def effective_redis_url(self) -> str:
        return self.redis_url or f"redis+socket://{self.redis_socket}"

    @property
    def redis_client_url(self) -> str:
        """The same, as Redis' own client writes it; the other is Celery's way."""
        return self.effective_redis_url.replace("redis+socket://", "unix://", 1)

    @property
    def qdrant_dir(self) -> Path:
        return self.state_dir / "qdrant"

    @property
    def files_dir(self) -> Path:
        return self.state_dir / "files"

    @property
    def operator_key_file(self) -> Path:
        """Where `preread up` leaves an API key for the command line."""
        return self.state_dir / "operator.key"

    @property
    def log_dir(self) -> Path:
        return self.state_dir / "log"

    @property
    def profiles_dir(self) -> Path:
        return self.state_dir / "profiles"

    @property
    def effective_kv_dir(self) -> Path:
        return self.kv_dir or self.state_dir / "kv"

    @property
    def effective_staging_dir(self) -> Path:
        return self.staging_dir or self.state_dir / "staging"


@lru_cache
def get_settings() -> Settings:
    return Settings()
