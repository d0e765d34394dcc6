import { useCallback, useRef, useState } from "react";

import { uploadDocument } from "../api";
import { problemOf } from "../http";
import type { Problem } from "../types";

export interface FailedUpload {
  id: number;
  name: string;
  problem: Problem;
}

export interface Uploads {
  /** The last thing that happened, for the status line. */
  message: string;
  failed: FailedUpload[];
  add: (files: readonly File[]) => Promise<void>;
  dismiss: (id: number) => void;
}

/** Sends files one after another; `onSent` is called after each that arrived. */
export function useUploads(onSent: () => void): Uploads {
  const [message, setMessage] = useState("");
  const [failed, setFailed] = useState<FailedUpload[]>([]);
  const nextId = useRef(0);

  const add = useCallback(
    async (files: readonly File[]) => {
      for (const file of files) {
        setMessage(`Sending ${file.name}…`);
        try {
          const { created } = await uploadDocument(file);
          setMessage(created ? `${file.name} was added.` : `${file.name} is already here.`);
          onSent();
        } catch (error) {
          nextId.current += 1;
          const failure = { id: nextId.current, name: file.name, problem: problemOf(error) };
          setMessage("");
          setFailed((all) => [...all, failure]);
        }
      }
    },
    [onSent],
  );

  const dismiss = useCallback(
    (id: number) => setFailed((all) => all.filter((upload) => upload.id !== id)),
    [],
  );

  return { message, failed, add, dismiss };
}
