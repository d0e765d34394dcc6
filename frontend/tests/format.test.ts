import { describe, expect, it } from "vitest";

import { cacheLine } from "../src/answer/cacheLine";
import { bytes, percent, plural, seconds } from "../src/format";
import { ANSWER } from "./samples";

describe("numbers for people", () => {
  it("says 0 % and 100 % only of what is exactly that", () => {
    expect(percent(0)).toBe("0 %");
    expect(percent(0.0001)).toBe("< 0.1 %");
    expect(percent(0.12345)).toBe("12.3 %");
    expect(percent(0.9999)).toBe("> 99.9 %");
    expect(percent(1)).toBe("100 %");
  });

  it.each([
    [0, "0 B"],
    [999, "999 B"],
    [1_000, "1 kB"],
    [999_960, "1 MB"],
    [11_796_480, "11.8 MB"],
    [3.2e15, "3,200 TB"],
  ])("shows %d bytes as %s", (value, text) => {
    expect(bytes(value)).toBe(text);
  });

  it("counts one thing without an s", () => {
    expect(plural(1, "page")).toBe("1 page");
    expect(plural(1200, "page")).toBe("1,200 pages");
  });

  it("shows short times with more digits", () => {
    expect(seconds(412)).toBe("0.4 s");
    expect(seconds(38)).toBe("0.04 s");
  });
});

describe("cacheLine", () => {
  it("says what came from the cache and when the first token came", () => {
    expect(cacheLine(ANSWER)).toBe("3 of 4 chunks from cache, first token after 0.4 s");
  });

  it("claims nothing where no chunk was read and no token came", () => {
    const timings = { ...ANSWER.timings, ttft_ms: null };
    expect(cacheLine({ cache: { chunks: 0, hits: 0, misses: [] }, timings })).toBe("No chunks were read");
  });
});
