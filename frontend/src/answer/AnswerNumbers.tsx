import { count, milliseconds } from "../format";
import { missReason } from "../shared/missReasons";
import type { Answer, Question } from "../types";
import { cacheLine } from "./cacheLine";

interface Props {
  answer: Answer;
  question: Question | null;
}

/** What the cache did for this answer: one line, and the numbers behind it on request. */
export function AnswerNumbers({ answer, question }: Props) {
  return (
    <div className="numbers">
      <p className="cache-line" data-testid="cache-line">
        {cacheLine(answer)}
      </p>
      {question?.cache === "off" && <p className="cache-note">Answered without cache, as you chose.</p>}
      <details>
        <summary>Details</summary>
        <dl className="facts">
          {facts(answer).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </div>
  );
}

/** Only what was measured: a stage that did not run has no row. */
function facts({ model, policy, fusion, cache, usage, timings }: Answer): [string, string][] {
  const reasons = new Set(cache.misses.map((miss) => missReason(miss.reason)));
  const rows: [string, string | null][] = [
    ["Model", model],
    ["Policy", policy],
    ["Fusion", fusion.used ? "used" : ["not used", fusion.reason].filter(Boolean).join(": ")],
    ["Misses", [...reasons].join(", ")],
    ["Prompt tokens", count(usage.prompt_tokens)],
    ["Reused tokens", measured(usage.reused_tokens, count)],
    ["Fresh tokens", measured(usage.fresh_tokens, count)],
    ["Prefix tokens", measured(usage.prefix_tokens, count)],
    ["Answer tokens", count(usage.completion_tokens)],
    ["Retrieval", measured(timings.retrieval_ms, milliseconds)],
    ["Load", measured(timings.load_ms, milliseconds)],
    ["Select", measured(timings.select_ms, milliseconds)],
    ["Recompute", measured(timings.recompute_ms, milliseconds)],
    ["First token", measured(timings.ttft_ms, milliseconds)],
    ["Total", milliseconds(timings.total_ms)],
  ];
  return rows.filter((row): row is [string, string] => Boolean(row[1]));
}

function measured(value: number | null, show: (value: number) => string): string | null {
  return value === null ? null : show(value);
}
