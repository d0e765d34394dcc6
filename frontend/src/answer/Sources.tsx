import type { Source } from "./quote";
import { SourceItem } from "./SourceItem";

interface Props {
  sources: readonly Source[];
  answered: boolean;
}

/** The passages the answer quotes, and below them those that were read without being quoted. */
export function Sources({ sources, answered }: Props) {
  const quoted = sources.filter((source) => source.quotes.length > 0);
  const others = sources.filter((source) => source.quotes.length === 0);
  const othersTitle = answered ? "Also read, not quoted" : "Passages found";

  return (
    <div className="sources">
      {quoted.length > 0 && (
        <section aria-label="Sources">
          <h3>Sources</h3>
          <SourceList sources={quoted} />
        </section>
      )}
      {others.length > 0 && (
        <section aria-label={othersTitle}>
          <details open={quoted.length === 0}>
            <summary>
              {othersTitle} ({others.length})
            </summary>
            <SourceList sources={others} />
          </details>
        </section>
      )}
    </div>
  );
}

function SourceList({ sources }: { sources: readonly Source[] }) {
  return (
    <ol className="source-list">
      {sources.map((source) => (
        <SourceItem key={source.chunk_id} source={source} />
      ))}
    </ol>
  );
}
