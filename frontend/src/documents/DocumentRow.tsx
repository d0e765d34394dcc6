import { useState } from "react";

import { deleteDocument, documentTextUrl, retryDocument } from "../api";
import { bytes, plural } from "../format";
import { problemOf } from "../http";
import { ConfirmButton } from "../shared/ConfirmButton";
import { ProblemNote } from "../shared/ProblemNote";
import { StateBadge } from "../shared/StateBadge";
import type { DocumentOut, Problem } from "../types";
import { progress } from "../shared/documentState";

interface Props {
  document: DocumentOut;
  canWrite: boolean;
  onChanged: () => void;
  onDeleted: () => void;
}

export function DocumentRow({ document, canWrite, onChanged, onDeleted }: Props) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const [leaving, setLeaving] = useState(false);
  const state = leaving ? "deleting" : document.state;
  const title = document.title || document.name;

  const remove = async () => {
    setLeaving(true);
    setProblem(null);
    try {
      await deleteDocument(document.id);
      onDeleted();
    } catch (error) {
      setLeaving(false);
      setProblem(problemOf(error));
      onChanged();
    }
  };

  const retry = async () => {
    setProblem(null);
    try {
      await retryDocument(document.id);
    } catch (error) {
      setProblem(problemOf(error));
    }
    onChanged();
  };

  return (
    <li className="document" data-testid="document" data-state={state} data-document-id={document.id}>
      <div className="document-head">
        {document.chunks > 0 ? (
          <a className="document-title" href={documentTextUrl(document.id)} target="_blank" rel="noreferrer">
            {title}
          </a>
        ) : (
          <span className="document-title">{title}</span>
        )}
        <StateBadge state={state} />
      </div>
      <p className="document-facts">{facts(document)}</p>
      {state === "failed" && document.failure !== null && (
        <p className="document-failure">{document.failure.message}</p>
      )}
      {problem !== null && <ProblemNote problem={problem} />}
      {canWrite && state !== "deleting" && (
        <div className="document-actions">
          {state === "failed" && (
            <button type="button" className="link" aria-label={`Try ${title} again`} onClick={retry}>
              Try again
            </button>
          )}
          <ConfirmButton
            label="Delete"
            name={`Delete ${title}`}
            question="Delete it and all that was read from it?"
            keep="Keep"
            confirm="Delete for good"
            onConfirm={remove}
          />
        </div>
      )}
    </li>
  );
}

function facts(document: DocumentOut): string {
  const named = document.title && document.title !== document.name ? document.name : null;
  const pages = document.pages === null ? null : plural(document.pages, "page");
  const chunks = document.chunks === 0 ? null : plural(document.chunks, "chunk");
  return [named, pages, bytes(document.size_bytes), progress(document) ?? chunks]
    .filter((fact) => fact !== null)
    .join(" · ");
}
