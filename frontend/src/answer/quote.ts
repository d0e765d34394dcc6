import type { Citation, Passage } from "../types";

export interface Segment {
  text: string;
  marked: boolean;
}

/** A passage with the quotes that the answer rests on; without any, it was only read. */
export interface Source {
  n: number;
  chunk_id: string;
  document_id: string;
  title: string;
  page: number | null;
  text: string;
  quotes: string[];
}

const CONTEXT = 140;
const ELLIPSIS = "…";

/** Passages in their order, then citations whose passage the stream never named. */
export function sourcesOf(passages: readonly Passage[], citations: readonly Citation[]): Source[] {
  const sources = new Map<string, Source>();
  for (const { n, chunk_id, document_id, title, name, page, text } of passages)
    sources.set(chunk_id, { n, chunk_id, document_id, title: title || name, page, text, quotes: [] });
  for (const { n, chunk_id, document_id, title, page, quote } of citations) {
    const known = sources.get(chunk_id);
    if (known !== undefined) known.quotes.push(quote);
    else
      sources.set(chunk_id, { n, chunk_id, document_id, title, page, text: quote, quotes: [quote] });
  }
  return [...sources.values()];
}

/** Cuts `text` into marked and unmarked runs; quotes that do not stand in it are marked after it. */
export function markQuotes(text: string, quotes: readonly string[]): Segment[] {
  const spans: [number, number][] = [];
  const missing: Segment[] = [];
  for (const quote of quotes) {
    const start = text.indexOf(quote);
    if (quote === "") continue;
    if (start >= 0) spans.push([start, start + quote.length]);
    else missing.push({ text: quote, marked: true });
  }
  spans.sort((a, b) => a[0] - b[0]);
  const segments: Segment[] = [];
  let at = 0;
  for (const [start, end] of spans) {
    if (end <= at) continue;
    segments.push({ text: text.slice(at, Math.max(at, start)), marked: false });
    segments.push({ text: text.slice(Math.max(at, start), end), marked: true });
    at = end;
  }
  segments.push({ text: text.slice(at), marked: false });
  return [...segments, ...missing].filter((segment) => segment.text !== "");
}

/** The marked runs with some words around them; all of it where that is hardly longer. */
export function excerpt(segments: readonly Segment[]): Segment[] {
  const last = segments.length - 1;
  return segments.map((segment, index) => {
    if (segment.marked) return segment;
    const alone = last === 0;
    const head = index === 0 && !alone ? "" : firstWords(segment.text, alone ? 2 * CONTEXT : CONTEXT);
    const tail = index === last ? "" : lastWords(segment.text, CONTEXT);
    const short = `${head}${ELLIPSIS}${tail}`;
    return short.length + CONTEXT / 2 < segment.text.length ? { text: short, marked: false } : segment;
  });
}

function firstWords(text: string, length: number): string {
  const cut = text.slice(0, length);
  const space = cut.search(/\s\S*$/);
  return space > length / 2 ? cut.slice(0, space) : cut.replace(/[\uD800-\uDBFF]$/, "");
}

function lastWords(text: string, length: number): string {
  const cut = text.slice(-length);
  const space = cut.search(/\s/);
  return space >= 0 && space < length / 2
    ? cut.slice(space + 1)
    : cut.replace(/^[\uDC00-\uDFFF]/, "");
}
