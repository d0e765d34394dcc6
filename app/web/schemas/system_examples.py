"""The state of a small service as /openapi.json and docs/api.md show it."""

from pydantic import JsonValue

READINESS: dict[str, JsonValue] = {
    "ready": True,
    "parts": [
        {"name": "database", "ok": True, "required": True, "message": "3 documents", "hint": ""},
        {"name": "engine", "ok": True, "required": True, "message": "serves smollm2-135m-instruct", "hint": ""},
    ],
}
STATUS: dict[str, JsonValue] = {
    "model": "smollm2-135m-instruct",
    "embedding_model": "all-minilm-l6-v2",
    "engine_ready": True,
    "fusion": True,
    "fusion_reason": None,
    "policy": "impact@.08",
    "conditioning": "neutral",
    "gate": "impact@.08 behind the neutral passage",
    "documents": {"preread": 3},
    "chunks": 7,
    "chunks_ready": 7,
}
CACHE: dict[str, JsonValue] = {
    "lookups": 20,
    "hits": 10,
    "misses": 10,
    "hit_rate": 0.5,
    "token_hit_rate": 0.52,
    "tokens_reused": 5080,
    "seconds_saved": 7.4,
    "load_seconds": 0.2,
    "hits_by_tier": [{"tier": "disk", "chunks": 10, "tokens": 5080}],
    "misses_by_reason": [{"reason": "not_precomputed", "chunks": 10, "tokens": 4690}],
    "kv_bytes": 9_437_184,
    "compression_ratio": 3.9,
    "tiers": [{"name": "disk", "entries": 14, "bytes": 9_437_184, "limit_bytes": 20_000_000_000}],
    "documents": [
        {
            "document_id": "doc_4x0kq3m8w2v9c7n5b1hz",
            "name": "travel.md",
            "state": "preread",
            "chunks": 2,
            "chunks_ready": 2,
            "tokens": 508,
            "kv_bytes": 2_621_440,
            "hits": 10,
            "misses": 0,
        }
    ],
    "documents_total": 3,
}
