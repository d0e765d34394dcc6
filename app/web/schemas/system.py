"""State of the service: health, status, pre-reading, cache."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class Health(BaseModel):
    status: str = Field("ok", description="The web process answers.")


class Part(BaseModel):
    name: str = Field(description="database, queue, engine, index, worker, or a tier of chunk KV.")
    ok: bool = Field(description="Whether it answers.")
    required: bool = Field(True, description="false: questions are answered without it, only less quickly.")
    message: str = Field(description="What is wrong, or what was found; empty for all but the operator's admins.")
    hint: str = Field(description="What to do about it; may be empty, and is for all but the operator's admins.")


class Readiness(BaseModel):
    ready: bool = Field(description="All required parts answer.")
    parts: list[Part]

    def without_reasons(self) -> "Readiness":
        """What strangers are told: which parts are well, and no more."""
        told = [part.model_copy(update={"message": "", "hint": ""}) for part in self.parts]
        return Readiness(ready=self.ready, parts=told)


class StatusOut(BaseModel):
    model: str = Field(description="The language model.")
    embedding_model: str = Field(description="The embedding model.")
    engine_ready: bool = Field(description="Whether the engine answers.")
    fusion: bool = Field(description="Whether this model's chunk KV can be fused.")
    fusion_reason: str | None = Field(description="Why not, where it cannot.")
    policy: str = Field(description="The policy in force when a request names none.")
    conditioning: str = Field(description="The passage that chunks are also read behind: off, neutral or document.")
    gate: str = Field(description="What was measured for this model, or that nothing was.")
    documents: dict[str, int] = Field(description="Documents by state.")
    chunks: int = Field(description="Chunks of all documents.")
    chunks_ready: int = Field(description="Chunks whose KV is kept.")


class PrecomputeMode(StrEnum):
    MISSING = "missing"
    ALL = "all"


class PrecomputeRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    mode: PrecomputeMode = Field(PrecomputeMode.MISSING, description="all: read again what is there already.")
    document_id: str | None = Field(None, description="One document; absent: every one.")


class PrecomputeOut(BaseModel):
    documents: int = Field(description="Documents that will be looked at, and pre-read where something is missing.")
    run_id: str = Field(description="The run that does it: `GET /admin/runs/{run_id}`.")


class TierHits(BaseModel):
    tier: str = Field(description="Where the KV was found.")
    chunks: int = Field(description="Chunks found there.")
    tokens: int = Field(description="Tokens found there.")


class ReasonMisses(BaseModel):
    reason: str = Field(description="Why the KV was not there.")
    chunks: int = Field(description="Chunks that missed.")
    tokens: int = Field(description="Tokens that missed.")


class TierOut(BaseModel):
    name: str = Field(description="The tier.")
    entries: int = Field(description="Entries kept.")
    bytes: int = Field(description="Bytes kept.")
    limit_bytes: int | None = Field(description="Most bytes kept; null: no limit of ours.")


class CacheDocument(BaseModel):
    document_id: str = Field(description="The document.")
    name: str = Field(description="Its file name.")
    state: str = Field(description="Its state.")
    chunks: int = Field(description="Its chunks.")
    chunks_ready: int = Field(description="Its chunks whose KV is kept.")
    tokens: int = Field(description="Its tokens.")
    kv_bytes: int = Field(description="Bytes of its KV at rest.")
    hits: int = Field(description="Lookups of its chunks that hit.")
    misses: int = Field(description="Lookups of its chunks that missed.")


class CacheReport(BaseModel):
    """Counts since the first question; a rate is null while there is nothing to count."""

    lookups: int = Field(description="Chunks looked up.")
    hits: int = Field(description="Chunks found.")
    misses: int = Field(description="Chunks not found.")
    hit_rate: float | None = Field(description="hits / lookups; null: no data.")
    token_hit_rate: float | None = Field(description="Tokens found / tokens looked up; null: no data.")
    tokens_reused: int = Field(description="Tokens found.")
    seconds_saved: float = Field(description="Seconds of prefill that reused tokens saved, estimated.")
    load_seconds: float = Field(description="Seconds spent on loading chunk KV.")
    hits_by_tier: list[TierHits]
    misses_by_reason: list[ReasonMisses]
    kv_bytes: int = Field(description="Bytes of all chunk KV at rest.")
    compression_ratio: float | None = Field(
        description="Bytes of the chunk KV in 16 bits a value / bytes at rest; null: no data."
    )
    tiers: list[TierOut] = Field(description="Of all tenants together; told the operator's admins alone.")
    documents: list[CacheDocument] = Field(description="One page of documents.")
    documents_total: int = Field(description="How many documents there are in all.")
