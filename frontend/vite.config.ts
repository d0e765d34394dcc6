import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const API_PATHS = ["ask", "documents", "status", "precompute", "healthz", "readyz", "metrics", "jobs", "admin", "auth"];
const API_SERVER = "http://127.0.0.1:8100";

export default defineConfig({
  base: "./",
  plugins: [react()],
  build: {
    outDir: "../app/web/static",
    emptyOutDir: true,
    // The page's policy is `default-src 'self'`: an asset inlined as a data: URL would be refused.
    assetsInlineLimit: 0,
  },
  server: {
    proxy: Object.fromEntries(API_PATHS.map((path) => [`/${path}`, API_SERVER])),
  },
  test: {
    environment: "jsdom",
    include: ["tests/**/*.test.{ts,tsx}"],
    restoreMocks: true,
    unstubGlobals: true,
  },
});
