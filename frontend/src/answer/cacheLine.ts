import { count, plural, seconds } from "../format";
import type { Answer } from "../types";

/** "3 of 4 chunks from cache, first token after 0.4 s" */
export function cacheLine({ cache, timings }: Pick<Answer, "cache" | "timings">): string {
  const chunks =
    cache.chunks === 0
      ? "No chunks were read"
      : `${count(cache.hits)} of ${plural(cache.chunks, "chunk")} from cache`;
  if (timings.ttft_ms === null) return chunks;
  return `${chunks}, first token after ${seconds(timings.ttft_ms)}`;
}
