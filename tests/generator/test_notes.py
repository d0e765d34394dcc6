import os
import time
from pathlib import Path

from generator.report import ChunkOutcome, FusionReport
from generator.vllm.notes import Notes

CHUNKS = (ChunkOutcome(0, 50, "disk"), ChunkOutcome(1, 40, None, "absent"))
REPORT = FusionReport("ask_1", "head@16", 100, 60, 30, 10, 0.1, 0.0, 0.2, 0.05, CHUNKS)


def test_a_report_comes_back_as_it_was_written(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.write_report(REPORT)
    assert FusionReport.from_json(notes.read("report", "ask_1") or {}) == REPORT


def test_effective_recompute_is_the_fresh_share_of_the_context_and_the_choice() -> None:
    assert REPORT.effective_recompute == 0.35
    assert FusionReport("ask_2", "none", 0).effective_recompute is None


def test_there_is_no_note_before_it_was_written_nor_under_a_path(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    (tmp_path / "report-x.json").write_text("{}")
    assert notes.read("report", "ask_1") is None
    assert notes.read("report", "../report-x") is None


def test_old_notes_are_swept_and_recent_ones_kept(tmp_path: Path) -> None:
    notes = Notes(tmp_path)
    notes.write_capture("old", None)
    hour_ago = time.time() - 3600
    os.utime(tmp_path / "capture-old.json", (hour_ago, hour_ago))
    for number in range(300):
        notes.write_capture(f"new-{number}", None)
    assert notes.read("capture", "old") is None
    assert notes.read("capture", "new-0") == {"problem": None, "seconds": 0.0}


def test_a_note_that_cannot_be_written_harms_nobody(tmp_path: Path) -> None:
    notes = Notes(tmp_path / "notes")
    (tmp_path / "notes").rmdir()
    notes.write_report(REPORT)
    assert notes.read("report", "ask_1") is None
