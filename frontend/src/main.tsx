import { StrictMode } from "react";
import { createRoot } from "react-dom/client";

import { App } from "./App";
import "./styles/base.css";
import "./styles/controls.css";
import "./styles/ask.css";
import "./styles/documents.css";
import "./styles/admin.css";
import "./styles/keys.css";
import "./styles/session.css";

const root = document.getElementById("root");
if (root === null) throw new Error("index.html has no #root element");

createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);
