import { useState } from "react";

import { documentTextUrl } from "../api";
import { sourceAnchor } from "./AnswerText";
import { excerpt, markQuotes, type Source } from "./quote";

export function SourceItem({ source }: { source: Source }) {
  const [whole, setWhole] = useState(false);
  const segments = markQuotes(source.text, source.quotes);
  const short = excerpt(segments);
  const isCut = short.some((segment, index) => segment !== segments[index]);

  return (
    <li id={sourceAnchor(source.n)} className="source" tabIndex={-1} data-testid="source">
      <p className="source-head">
        <span className="source-number">[{source.n}]</span>
        <span className="source-title">{source.title}</span>
        {source.page !== null && <span className="source-page">page {source.page}</span>}
      </p>
      <blockquote className="passage">
        {(whole ? segments : short).map((segment, index) =>
          segment.marked ? (
            <mark key={index}>{segment.text}</mark>
          ) : (
            <span key={index}>{segment.text}</span>
          ),
        )}
      </blockquote>
      <p className="source-foot">
        {isCut && (
          <button type="button" className="link" onClick={() => setWhole(!whole)}>
            {whole ? "Shorter" : "Whole passage"}
          </button>
        )}
        <a href={documentTextUrl(source.document_id)} target="_blank" rel="noreferrer">
          Document text
        </a>
      </p>
    </li>
  );
}
