import type { ApiKey } from "../src/admin/keys/types";
import type { Session } from "../src/session/types";
import type { Answer, CacheStats, Citation, DocumentOut, Passage, Problem } from "../src/types";

export const PASSAGE: Passage = {
  n: 1,
  document_id: "doc_1",
  title: "Travel rules",
  name: "travel.pdf",
  page: 4,
  chunk_id: "chk_1",
  score: 0.8,
  text: "Trips are booked by the office. Rail is first choice under 600 km. Flights need approval.",
};

export const CITATION: Citation = {
  n: 1,
  document_id: "doc_1",
  title: "Travel rules",
  page: 4,
  chunk_id: "chk_1",
  start: 1032,
  end: 1067,
  quote: "Rail is first choice under 600 km.",
  score: 0.8,
};

export const ANSWER: Answer = {
  request_id: "req_1",
  answer: "By rail, under 600 km [1].",
  status: "answered",
  citations: [CITATION],
  usage: {
    prompt_tokens: 2100,
    completion_tokens: 9,
    reused_tokens: 1800,
    fresh_tokens: 280,
    prefix_tokens: 20,
  },
  timings: {
    retrieval_ms: 12,
    load_ms: 30,
    select_ms: 41,
    recompute_ms: 90,
    ttft_ms: 412,
    total_ms: 1500,
  },
  cache: { chunks: 4, hits: 3, misses: [{ chunk_id: "chk_9", reason: "not_precomputed" }] },
  model: "small-model",
  policy: "impact@.15",
  fusion: { used: true, reason: null },
};

export const PROBLEM: Problem = {
  title: "Service Unavailable",
  status: 503,
  detail: "The engine does not answer.",
  code: "engine_unavailable",
  hint: "Wait until it has started, then ask again.",
};

export const DOCUMENT: DocumentOut = {
  id: "doc_1",
  name: "travel.pdf",
  title: "Travel rules",
  state: "preread",
  failure: null,
  media_type: "application/pdf",
  size_bytes: 48_200,
  pages: 12,
  chunks: 40,
  chunks_ready: 40,
  tokens: 19_800,
  created_at: "2026-01-05T10:00:00Z",
  updated_at: "2026-01-05T10:01:00Z",
};

export const EMPTY_STATS: CacheStats = {
  lookups: 0,
  hits: 0,
  misses: 0,
  hit_rate: null,
  token_hit_rate: null,
  tokens_reused: 0,
  seconds_saved: 0,
  load_seconds: 0,
  hits_by_tier: [],
  misses_by_reason: [],
  kv_bytes: 0,
  compression_ratio: null,
  tiers: [],
  documents: [],
  documents_total: 0,
};

export const STATS: CacheStats = {
  lookups: 20,
  hits: 10,
  misses: 10,
  hit_rate: 0.5,
  token_hit_rate: 0.6,
  tokens_reused: 3_000,
  seconds_saved: 12.5,
  load_seconds: 0.8,
  hits_by_tier: [{ tier: "disk", chunks: 10, tokens: 3_000 }],
  misses_by_reason: [
    { reason: "not_precomputed", chunks: 8, tokens: 1_500 },
    { reason: "evicted", chunks: 2, tokens: 500 },
  ],
  kv_bytes: 11_800_000,
  compression_ratio: 5.5,
  tiers: [{ name: "disk", entries: 40, bytes: 11_800_000, limit_bytes: 20_000_000_000 }],
  documents: [
    {
      document_id: "doc_1",
      name: "travel.pdf",
      state: "preread",
      chunks: 40,
      chunks_ready: 40,
      tokens: 19_800,
      kv_bytes: 11_800_000,
      hits: 10,
      misses: 10,
    },
  ],
  documents_total: 1,
};

export const ADMIN: Session = {
  name: "ada",
  tenant: "default",
  role: "admin",
  permissions: ["ask", "documents:read", "documents:write", "metrics", "admin"],
  csrf_token: "token-of-ada",
};

export const EDITOR: Session = {
  ...ADMIN,
  name: "ed",
  role: "editor",
  permissions: ["ask", "documents:read", "documents:write"],
  csrf_token: "token-of-ed",
};

export const READER: Session = {
  ...ADMIN,
  name: "rita",
  role: "reader",
  permissions: ["ask", "documents:read"],
  csrf_token: "token-of-rita",
};

export const KEY: ApiKey = {
  id: "key_1",
  name: "night job",
  role: "editor",
  scopes: ["documents:write"],
  created_at: "2026-01-05T10:00:00Z",
  expires_at: null,
  revoked_at: null,
  last_used_at: "2026-01-06T10:00:00Z",
  requests_per_minute: null,
  concurrent_requests: null,
};

export const UNKNOWN: Problem = {
  title: "Unauthorized",
  status: 401,
  detail: "You are not signed in.",
  code: "unauthenticated",
  hint: "Sign in.",
};
