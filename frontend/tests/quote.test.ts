import { describe, expect, it } from "vitest";

import { excerpt, markQuotes, sourcesOf } from "../src/answer/quote";
import { CITATION, PASSAGE } from "./samples";

function written(segments: { text: string; marked: boolean }[]): string {
  return segments.map(({ text, marked }) => (marked ? `<${text}>` : text)).join("");
}

describe("sourcesOf", () => {
  it("gives each passage the quotes that rest on it", () => {
    const [source] = sourcesOf([PASSAGE], [CITATION]);
    expect(source).toMatchObject({ n: 1, text: PASSAGE.text, quotes: [CITATION.quote] });
  });

  it("shows a citation whose passage never came by its quote alone", () => {
    expect(sourcesOf([], [CITATION])).toMatchObject([{ text: CITATION.quote, quotes: [CITATION.quote] }]);
  });

  it("names a document without a title by its file", () => {
    expect(sourcesOf([{ ...PASSAGE, title: "" }], [])).toMatchObject([{ title: "travel.pdf" }]);
  });
});

describe("markQuotes", () => {
  it("marks the quote inside the passage", () => {
    expect(written(markQuotes("One. Two. Three.", ["Two."]))).toBe("One. <Two.> Three.");
  });

  it("marks several quotes in the passage's order, overlaps once", () => {
    expect(written(markQuotes("abcdef", ["de", "ab", "bc"]))).toBe("<ab><c><de>f");
  });

  it("never changes the passage's own characters", () => {
    const text = "<b>not HTML</b> & 日本語。";
    expect(markQuotes(text, ["HTML"]).map((segment) => segment.text).join("")).toBe(text);
  });

  it("puts a quote that does not stand in the passage after it", () => {
    expect(written(markQuotes("One.", ["Four."]))).toBe("One.<Four.>");
  });

  it("ignores an empty quote", () => {
    expect(markQuotes("One.", [""])).toEqual([{ text: "One.", marked: false }]);
  });
});

describe("excerpt", () => {
  const long = "word ".repeat(200);

  it("keeps the quote whole and cuts what surrounds it at words", () => {
    const short = written(excerpt(markQuotes(`${long}The quote. ${long}`, ["The quote."])));
    expect(short).toMatch(/^…(word )+<The quote.>( word)+…$/);
    expect(short.length).toBeLessThan(320);
  });

  it("shortens a passage without quotes to its beginning", () => {
    const short = written(excerpt(markQuotes(long, [])));
    expect(short).toMatch(/^(word ?)+…$/);
  });

  it("leaves a short passage as it is", () => {
    const segments = markQuotes(PASSAGE.text, [CITATION.quote]);
    expect(excerpt(segments)).toEqual(segments);
  });

  it("never cuts a character in two", () => {
    const short = excerpt(markQuotes(`x${"😀".repeat(400)}`, []));
    // It throws at half a surrogate pair.
    expect(() => encodeURIComponent(written(short))).not.toThrow();
  });
});
