from app.cli.sse import ServerEvent, events


def test_events_end_at_blank_lines_and_comments_are_passed_over() -> None:
    lines = [": ping", "event: meta", 'data: {"a": 1}', "", "event: delta", 'data: {"text":', 'data: "x"}', ""]
    assert list(events(lines)) == [ServerEvent("meta", {"a": 1}), ServerEvent("delta", {"text": "x"})]


def test_an_event_cut_off_is_dropped() -> None:
    assert list(events(["event: done", 'data: {"a": 1}'])) == []


def test_blank_lines_alone_are_no_events() -> None:
    assert list(events(["", "", "event: lonely", ""])) == []
