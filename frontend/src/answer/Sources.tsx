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

  return (
    <div className="sources">
      {quoted.length > 0 && <SourceList title="Sources" sources={quoted} />}
      {others.length > 0 && (
        <SourceList
          title={answered ? "Also read, not quoted" : "Passages found"}
          sources={others}
        />
      )}
    </div>
  );
}

function SourceList({ title, sources }: { title: string; sources: readonly Source[] }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <ol className="source-list">
        {sources.map((source) => (
          <SourceItem key={source.chunk_id} source={source} />
        ))}
      </ol>
    </section>
  );
}
