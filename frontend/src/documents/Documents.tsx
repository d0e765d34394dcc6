import { useRef, useState } from "react";

import { count } from "../format";
import { Pager } from "../shared/Pager";
import { ProblemNote } from "../shared/ProblemNote";
import { DocumentRow } from "./DocumentRow";
import { UploadArea } from "./UploadArea";
import { PAGE_SIZE, useDocuments } from "./useDocuments";
import { useUploads } from "./useUploads";

const FILTER_FROM = 8;

export function Documents({ canWrite }: { canWrite: boolean }) {
  const [offset, setOffset] = useState(0);
  const [filter, setFilter] = useState("");
  const { page, problem, refresh } = useDocuments(offset, filter);
  const uploads = useUploads(refresh);
  const heading = useRef<HTMLHeadingElement>(null);

  const changeFilter = (text: string) => {
    setFilter(text);
    setOffset(0);
  };

  const afterDelete = () => {
    heading.current?.focus();
    refresh();
  };

  return (
    <section className="documents card" aria-labelledby="documents-title">
      <h2 id="documents-title" ref={heading} tabIndex={-1}>
        Documents {page !== null && <span className="total">{count(page.total)}</span>}
      </h2>
      {canWrite && <UploadArea uploads={uploads} />}
      {problem !== null && (
        <ProblemNote problem={problem}>
          <button type="button" className="button" onClick={refresh}>
            Load again
          </button>
        </ProblemNote>
      )}
      {page !== null && (page.total > FILTER_FROM || filter !== "") && (
        <input
          type="search"
          className="filter"
          aria-label="Find a document"
          placeholder="Find a document"
          value={filter}
          onChange={(event) => changeFilter(event.target.value)}
        />
      )}
      {page !== null && page.items.length === 0 && (
        <p className="empty">
          {filter === "" ? emptyText(canWrite) : "No document has this name."}
        </p>
      )}
      {page !== null && page.items.length > 0 && (
        <ul className="document-list" aria-label="Documents">
          {page.items.map((document) => (
            <DocumentRow
              key={document.id}
              document={document}
              canWrite={canWrite}
              onChanged={refresh}
              onDeleted={afterDelete}
            />
          ))}
        </ul>
      )}
      {page !== null && (
        <Pager
          label="Pages of documents"
          offset={offset}
          size={PAGE_SIZE}
          total={page.total}
          onMove={setOffset}
        />
      )}
    </section>
  );
}

function emptyText(canWrite: boolean): string {
  return canWrite ? "Nothing here yet. Add a document, then ask about it." : "There are no documents here yet.";
}
