"""Tries of one document do not stop the others, and end one day."""

import pytest

from app.core.catalog import DocumentState, JobState
from generator.errors import EngineUnavailable
from retrieval.errors import IndexUnavailable, ParserKilled
from workers.attempts import Outcome, attempt
from workers.ingest import ingest
from workers.preread import preread
from workers.time_limit import OutOfTime

TENANT = "default"


@pytest.fixture
def indexed(context, add):
    document = add("travel.md", "Whoever travels to town is paid 45 euros a day for meals.")
    assert ingest(document.id, context)
    return document


def state(context, document):
    return context.catalog.get_document(TENANT, document.id).state


def try_again(context, document, work):
    context.catalog.make_due([document.id])
    return attempt("preread", document.id, context, work)


def raises(error):
    def work():
        raise error

    return work


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (OutOfTime(), "time_limit"),
        (RuntimeError("a bug"), "unexpected_error"),
        (EngineUnavailable("The engine went away."), "engine_unavailable"),
    ],
)
def test_a_document_fails_after_so_many_tries_with_the_reason_of_the_last(context, indexed, error, code):
    for number in range(1, context.settings.task_attempts):
        assert try_again(context, indexed, raises(error)) is Outcome.AGAIN
        assert state(context, indexed) is DocumentState.INDEXED
        job = context.catalog.job_of(TENANT, indexed.id)
        assert (job.attempts, job.reason_code) == (number, code)
        assert attempt("preread", indexed.id, context, raises(error)) is Outcome.IDLE, "its pause is not over"
    assert try_again(context, indexed, raises(error)) is Outcome.DONE
    document = context.catalog.get_document(TENANT, indexed.id)
    assert (document.state, document.failure_code) == (DocumentState.FAILED, code)
    assert "5 tries" in document.failure_message
    assert context.catalog.job_of(TENANT, indexed.id).state is JobState.DEAD
    assert try_again(context, indexed, raises(error)) is Outcome.IDLE


def test_a_file_whose_parser_was_killed_is_read_at_the_next_try(context, add, monkeypatch):
    document = add("travel.md", "Whoever travels to town is paid 45 euros a day for meals.")

    def read():
        return attempt("ingest", document.id, context, lambda: ingest(document.id, context))

    with monkeypatch.context() as patch:
        patch.setattr("workers.ingest.parse_apart", lambda *_: raises(ParserKilled("It was ended from outside."))())
        assert read() is Outcome.AGAIN
    job = context.catalog.job_of(TENANT, document.id)
    assert (job.attempts, job.reason_code) == (1, "parser_killed")
    context.catalog.make_due([document.id])
    assert read() is Outcome.MORE
    assert state(context, document) is DocumentState.INDEXED


def test_tries_that_end_without_a_word_are_counted_and_end_too(context, indexed):
    for _ in range(context.settings.task_attempts):
        context.catalog.make_due([indexed.id])
        assert context.catalog.begin_attempt(indexed.id, "preread", lambda _: 0)
    assert try_again(context, indexed, lambda: pytest.fail("it is not tried once more")) is Outcome.DONE
    assert context.catalog.get_document(TENANT, indexed.id).failure_code == "worker_lost"


@pytest.mark.parametrize("where", ["needs", "work"])
def test_what_does_not_answer_is_waited_for_without_end(context, indexed, where):
    away = raises(IndexUnavailable("The index does not answer."))
    for _ in range(3 * context.settings.task_attempts):
        if where == "needs":
            assert attempt("preread", indexed.id, context, lambda: False, needs=away) is Outcome.WAITS
        else:
            assert attempt("preread", indexed.id, context, away) is Outcome.WAITS
    assert state(context, indexed) is DocumentState.INDEXED
    assert context.catalog.job_of(TENANT, indexed.id).attempts == 0


def test_a_slice_that_went_well_begins_to_count_anew(context, indexed):
    for _ in range(3 * context.settings.task_attempts):
        assert try_again(context, indexed, raises(RuntimeError())) is Outcome.AGAIN
        assert try_again(context, indexed, lambda: True) is Outcome.MORE


def test_a_document_that_breaks_the_engine_is_set_aside_and_the_others_go_on(context, indexed, add):
    other = add("rules.md", "The second rule is short.")
    assert ingest(other.id, context)
    chunk = context.catalog.chunks_of(context.catalog.get_document(TENANT, indexed.id).current_version_id)[0]

    def break_down(ids):
        if ids == tuple(chunk.token_ids):
            raise EngineUnavailable("The engine went away.")

    context.engine.before.append(break_down)
    for _ in range(context.settings.task_attempts):
        for document in (indexed, other):
            try_again(context, document, lambda document=document: preread(document.id, context))
    assert state(context, indexed) is DocumentState.FAILED
    assert state(context, other) is DocumentState.PREREAD


def test_a_file_that_cannot_be_used_is_a_dead_letter_at_once(context, add):
    document = add("blank.md", " ")
    assert attempt("ingest", document.id, context, lambda: ingest(document.id, context)) is Outcome.DONE
    job = context.catalog.job_of(TENANT, document.id)
    assert (job.id, job.state, job.attempts) == (f"ingest-{document.id}", JobState.DEAD, 1)
    assert job.reason_code == "empty_document"


def test_a_document_that_is_deleted_under_its_last_try_is_not_failed(context, indexed):
    for _ in range(context.settings.task_attempts - 1):
        try_again(context, indexed, raises(RuntimeError()))

    def deleted():
        context.catalog.begin_delete(TENANT, indexed.id)
        raise RuntimeError

    assert try_again(context, indexed, deleted) is Outcome.IDLE
    assert state(context, indexed) is DocumentState.DELETING
