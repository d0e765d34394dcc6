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

function facts(answer: Answer): [string, string][] {
  const { usage, timings, cache, fusion } = answer;
  const reasons = [...new Set(cache.misses.map((miss) => missReason(miss.reason)))];
  const rows: [string, string | null | undefined][] = [
    ["Model", answer.model],
    ["Policy", answer.policy],
    ["Fusion", fusion && (fusion.used ? "used" : `not used${fusion.reason ? `: ${fusion.reason}` : ""}`)],
    ["Misses", reasons.join(", ")],
    ["Prompt tokens", count(usage.prompt_tokens)],
    ["Reused tokens", count(usage.reused_tokens)],
    ["Fresh tokens", count(usage.fresh_tokens)],
    ["Prefix tokens", count(usage.prefix_tokens)],
    ["Answer tokens", count(usage.completion_tokens)],
    ["Retrieval", milliseconds(timings.retrieval_ms)],
    ["Load", milliseconds(timings.load_ms)],
    ["Select", milliseconds(timings.select_ms)],
    ["Recompute", milliseconds(timings.recompute_ms)],
    ["First token", milliseconds(timings.ttft_ms)],
    ["Total", milliseconds(timings.total_ms)],
  ];
  return rows.filter((row): row is [string, string] => Boolean(row[1]));
}
