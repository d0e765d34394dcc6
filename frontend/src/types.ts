/** The shapes that Preread's HTTP interface sends and takes. */

export interface Problem {
  title: string;
  status: number;
  detail: string;
  code: string;
  hint: string;
}

export type CacheMode = "auto" | "off";

export interface Question {
  question: string;
  cache: CacheMode;
}

export interface Passage {
  n: number;
  document_id: string;
  title: string;
  name: string;
  page: number | null;
  chunk_id: string;
  score: number | null;
  text: string;
}

export interface Citation {
  n: number;
  document_id: string;
  title: string;
  page: number | null;
  chunk_id: string;
  start: number;
  end: number;
  quote: string;
  score: number | null;
}

export type AnswerStatus = "answered" | "no_answer" | "stopped" | "truncated";

/** Null where the engine did not say. */
export interface Usage {
  prompt_tokens: number;
  completion_tokens: number;
  reused_tokens: number | null;
  fresh_tokens: number | null;
  prefix_tokens: number | null;
}

/** Milliseconds; null where a stage did not run. */
export interface Timings {
  retrieval_ms: number | null;
  load_ms: number | null;
  select_ms: number | null;
  recompute_ms: number | null;
  ttft_ms: number | null;
  total_ms: number;
}

export interface CacheUse {
  chunks: number;
  hits: number;
  misses: { chunk_id: string; reason: string }[];
}

export interface Answer {
  request_id: string;
  answer: string;
  status: AnswerStatus;
  citations: Citation[];
  usage: Usage;
  timings: Timings;
  cache: CacheUse;
  model: string;
  policy: string;
  fusion: { used: boolean; reason: string | null };
}

export type AnswerEvent =
  | { type: "meta"; request_id: string; model: string; policy: string }
  | { type: "sources"; passages: Passage[]; retrieval_ms: number | null }
  | { type: "delta"; text: string }
  | { type: "done"; answer: Answer }
  | { type: "error"; problem: Problem };

export type DocumentState =
  | "received"
  | "parsed"
  | "chunked"
  | "indexed"
  | "preread"
  | "failed"
  | "deleting";

export interface DocumentOut {
  id: string;
  name: string;
  title: string;
  state: DocumentState;
  failure: { code: string; message: string } | null;
  media_type: string;
  size_bytes: number;
  pages: number | null;
  chunks: number;
  chunks_ready: number;
  tokens: number;
  created_at: string;
  updated_at: string;
}

export interface DocumentPage {
  items: DocumentOut[];
  total: number;
}

export interface Upload {
  document: DocumentOut;
  created: boolean;
}

export interface DocumentCacheRow {
  document_id: string;
  name: string;
  state: DocumentState;
  chunks: number;
  chunks_ready: number;
  tokens: number;
  kv_bytes: number;
  hits: number;
  misses: number;
}

/** Rates are between 0 and 1; null when nothing was looked up. */
export interface CacheStats {
  lookups: number;
  hits: number;
  misses: number;
  hit_rate: number | null;
  token_hit_rate: number | null;
  tokens_reused: number;
  seconds_saved: number;
  load_seconds: number;
  hits_by_tier: { tier: string; chunks: number; tokens: number }[];
  misses_by_reason: { reason: string; chunks: number; tokens: number }[];
  kv_bytes: number;
  compression_ratio: number | null;
  tiers: { name: string; entries: number; bytes: number; limit_bytes: number | null }[];
  documents: DocumentCacheRow[];
  documents_total: number;
}
