import { useState, type ChangeEvent, type DragEvent } from "react";

import { ProblemNote } from "../shared/ProblemNote";
import type { Uploads } from "./useUploads";

const ACCEPTED =
  ".pdf,.docx,.pptx,.xlsx,.epub,.eml,.html,.htm,.xhtml,.md,.markdown,.mdown,.mkd,.rst,.rest,.csv,.tsv,.json,.jsonl,.ndjson,.txt,.text";

export function UploadArea({ uploads }: { uploads: Uploads }) {
  const [over, setOver] = useState(false);

  const choose = (event: ChangeEvent<HTMLInputElement>) => {
    const files = [...(event.target.files ?? [])];
    // Otherwise choosing the same file again would not count as a change.
    event.target.value = "";
    void uploads.add(files);
  };

  const hover = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };

  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    void uploads.add([...event.dataTransfer.files]);
  };

  return (
    <>
      <div
        className={over ? "drop drop-over" : "drop"}
        data-testid="drop-area"
        onDragOver={hover}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <label className="drop-label">
          <input type="file" multiple accept={ACCEPTED} className="visually-hidden" onChange={choose} />
          Add documents
        </label>
        <span className="drop-hint">or drop them here: PDF, Word, PowerPoint, Excel, EPUB, e-mail, web pages, text</span>
      </div>
      <p className="upload-status" role="status">
        {uploads.message}
      </p>
      {uploads.failed.map(({ id, name, problem }) => (
        <ProblemNote
          key={id}
          problem={{ detail: `${name} was not added. ${problem.detail}`, hint: problem.hint }}
        >
          <button type="button" className="button" onClick={() => uploads.dismiss(id)}>
            Dismiss
          </button>
        </ProblemNote>
      ))}
    </>
  );
}
