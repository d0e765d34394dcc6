from retrieval.parsing import Heading, parse

HANDBOOK = """---
title: "Leave policy"
tags: [hr]
---

# Leave *and* `absence`

Twenty-five days.

```
# not a heading
```

> ## Quoted [heading](https://example.com)

Parental leave
--------------

Sixteen weeks.
"""


def test_the_markdown_source_is_the_text() -> None:
    parsed = parse(HANDBOOK.encode(), "leave.md")
    assert parsed.text == HANDBOOK
    assert parsed.media_type == "text/markdown"
    assert parsed.pages == ()


def test_headings_are_found_at_their_lines_and_read_without_markup() -> None:
    parsed = parse(HANDBOOK.encode(), "leave.md")
    assert [(heading.level, heading.text) for heading in parsed.headings] == [
        (1, "Leave and absence"),
        (2, "Quoted heading"),
        (2, "Parental leave"),
    ]
    for heading, line in zip(parsed.headings, ["# Leave", "> ## Quoted", "Parental"], strict=True):
        assert parsed.text.startswith(line, heading.start)


def test_the_title_is_the_front_matters_then_the_highest_heading_then_the_name() -> None:
    assert parse(HANDBOOK.encode(), "leave.md").title == "Leave policy"
    assert parse(b"## Second\n\n# First\n\n# Later\n", "a.md").title == "First"
    assert parse(b"no heading", "notes.md").title == "notes"


def test_offsets_hold_with_windows_line_ends() -> None:
    parsed = parse(b"Intro.\r\n\r\n# One\r\n\r\nText.\r\n", "a.md")
    assert parsed.headings == (Heading(8, 1, "One"),)
    assert parsed.text[8:13] == "# One"


def test_an_empty_heading_is_none() -> None:
    assert parse(b"#\n\ntext", "a.md").headings == ()
