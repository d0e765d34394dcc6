from typing import Annotated

from fastapi import APIRouter, Query
from fastapi import Path as PathParam

from app.core.catalog import DocumentGone, InvalidTransition, JobState
from app.web.access.guard import ADMIN, READ, WRITE
from app.web.deps import JobsDep, Limit, Offset
from app.web.jobs import JobNotFound, RunNotFound
from app.web.openapi import problems
from app.web.schemas.jobs import JobOut, JobPageOut, RunOut, RunPageOut

router = APIRouter(tags=["jobs"])

JobId = Annotated[str, PathParam(max_length=100, description="The job.")]
RunId = Annotated[str, PathParam(max_length=100, description="The run.")]
State = Annotated[JobState | None, Query(description="Only jobs in this state.")]


@router.get("/jobs", operation_id="list_jobs", dependencies=[READ], summary="What runs, waits, and was given up")
def list_jobs(jobs: JobsDep, state: State = None, limit: Limit = 50, offset: Offset = 0) -> JobPageOut:
    return jobs.page(state, limit, offset)


@router.post(
    "/jobs/{job_id}/retry",
    operation_id="retry_job",
    dependencies=[WRITE],
    summary="Try a job again now",
    status_code=202,
    responses=problems(JobNotFound, DocumentGone),
)
def retry_job(job_id: JobId, jobs: JobsDep) -> JobOut:
    return jobs.retry(job_id)


@router.delete(
    "/jobs/{job_id}",
    operation_id="purge_job",
    dependencies=[WRITE],
    summary="Take a dead job off the list; its document stays failed",
    status_code=204,
    responses=problems(JobNotFound, InvalidTransition),
)
def purge_job(job_id: JobId, jobs: JobsDep) -> None:
    jobs.purge(job_id)


@router.get(
    "/admin/runs",
    operation_id="list_runs",
    dependencies=[ADMIN],
    summary="Runs of pre-reading and their reports, newest first",
)
def list_runs(jobs: JobsDep, limit: Limit = 20, offset: Offset = 0) -> RunPageOut:
    return jobs.runs(limit, offset)


@router.get(
    "/admin/runs/{run_id}",
    operation_id="get_run",
    dependencies=[ADMIN],
    summary="Show one run",
    responses=problems(RunNotFound),
)
def get_run(run_id: RunId, jobs: JobsDep) -> RunOut:
    return jobs.run(run_id)
