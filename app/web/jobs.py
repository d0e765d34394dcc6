"""Jobs and runs as the API handles them. Blocking: routes call it in a thread."""

from dataclasses import asdict

from app.core.catalog import Job, JobState, Run
from app.core.errors import NotFound
from app.web.access.audit import Action, Audit
from app.web.schemas.jobs import JobOut, JobPageOut, RunOut, RunPageOut
from app.web.services import Services


class JobNotFound(NotFound):
    code = "job_not_found"


class RunNotFound(NotFound):
    code = "run_not_found"


class Jobs:
    def __init__(self, services: Services, tenant: str, audit: Audit, *, in_full: bool) -> None:
        """`in_full`: for who runs the machine; messages that cannot be read tell no tenant."""
        self._catalog = services.catalog
        self._waker = services.waker
        self._tenant = tenant
        self._audit = audit
        self._in_full = in_full

    def page(self, state: JobState | None, limit: int, offset: int) -> JobPageOut:
        page = self._catalog.jobs(self._tenant, state, limit, offset)
        return JobPageOut(
            items=[_job_out(job) for job in page.items],
            total=page.total,
            counts={str(each): count for each, count in self._catalog.job_counts(self._tenant).items()},
            dropped=self._catalog.dropped_messages() if self._in_full else {},
        )

    def retry(self, job_id: str) -> JobOut:
        """Start a dead job anew, or one that waits for its time now. Raises JobNotFound."""
        job = self._job(job_id)
        if job.state is JobState.DEAD:
            self._catalog.retry(job.document_id)
        self._catalog.make_due([job.document_id])
        if job.task == "delete":
            self._waker.wake_delete(job.document_id)
        elif job.task == "preread" and job.state is not JobState.DEAD:
            self._waker.wake_preread(job.document_id)
        else:
            self._waker.wake_ingest(job.document_id)
        self._audit.note(Action.JOB_RETRY, job.id)
        return _job_out(self._catalog.job_of(self._tenant, job.document_id) or job)

    def purge(self, job_id: str) -> None:
        """Take a dead job off the list. Raises JobNotFound, and InvalidTransition for one that is not dead."""
        self._catalog.purge_job(self._tenant, self._job(job_id).document_id)
        self._audit.note(Action.JOB_PURGE, job_id)

    def runs(self, limit: int, offset: int) -> RunPageOut:
        # One more on either side: hit rates are those between two runs.
        beside = [None] if offset == 0 else []
        runs = [*beside, *self._catalog.runs(self._tenant, limit + 2, max(offset - 1, 0)), None]
        places = range(1, min(limit, len(runs) - 2) + 1)
        items = [self._run_out(runs[at - 1], run, runs[at + 1]) for at in places if (run := runs[at])]
        return RunPageOut(items=items, total=self._catalog.run_count(self._tenant))

    def run(self, run_id: str) -> RunOut:
        """Raises RunNotFound."""
        found = self._catalog.run_between(self._tenant, run_id)
        if found is None:
            raise RunNotFound(f"There is no run {run_id}.", "List the runs to see their ids.")
        return self._run_out(*found)

    def _job(self, job_id: str) -> Job:
        job = self._catalog.job_of(self._tenant, job_id.partition("-")[2])
        if job is None or job.id != job_id:
            raise JobNotFound(f"There is no job {job_id}.", "List the jobs to see their ids.")
        return job

    def _run_out(self, later: Run | None, run: Run, earlier: Run | None) -> RunOut:
        began = (earlier.hits_at_end or 0, earlier.lookups_at_end or 0) if earlier else (0, 0)
        after = None
        if run.hits_at_end is not None and run.lookups_at_end is not None:
            now = (later.hits_at_start, later.lookups_at_start) if later else self._catalog.lookup_counters(run.tenant)
            after = _rate((run.hits_at_end, run.lookups_at_end), now)
        shown = {name: value for name, value in asdict(run).items() if name in RunOut.model_fields}
        return RunOut(
            **shown,
            left=run.left,
            tokens_per_second=run.tokens_per_second,
            hit_rate_before=_rate(began, (run.hits_at_start, run.lookups_at_start)),
            hit_rate_after=after,
        )


def _rate(earlier: tuple[int, int], later: tuple[int, int]) -> float | None:
    """Share of hits among the look-ups between two readings of the counters; None: there were none."""
    lookups = later[1] - earlier[1]
    return (later[0] - earlier[0]) / lookups if lookups > 0 else None


def _job_out(job: Job) -> JobOut:
    return JobOut(**asdict(job))
