"""Jobs: what runs in the background, how far it is, and a way to stop it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path

from bayeswise.workbench.bench import Bench
from bayeswise.workbench.jobs import Job
from bayeswise.workbench.messages import PROBLEMS, Problem, Said

JobName = Annotated[str, Path(min_length=1, max_length=64)]


class JobView(Said):
    """A command in the background; `result` is what it prints with --json."""

    id: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    command: str
    progress: str
    done: int
    total: int | None
    seconds: float
    notes: list[str]
    output: str | None
    result: dict[str, Any] | None
    problem: Problem | None

    @classmethod
    def of(cls, job: Job) -> JobView:
        return cls.model_validate(job)


def routes(bench: Bench) -> APIRouter:
    """GET /api/jobs, GET /api/jobs/{id}, POST /api/jobs/{id}/cancel."""
    router = APIRouter(prefix="/api/jobs", tags=["jobs"], responses=PROBLEMS)

    @router.get("")
    def jobs() -> list[JobView]:
        """All jobs since the server was started, the latest first."""
        return [JobView.of(job) for job in bench.jobs.all()]

    @router.get("/{name}")
    def job(name: JobName) -> JobView:
        """How far a job is, and what it answered."""
        return JobView.of(bench.jobs.get(name))

    @router.post("/{name}/cancel")
    def cancel(name: JobName) -> JobView:
        """End a job; what it would have written stays as it was."""
        return JobView.of(bench.jobs.cancel(name))

    return router
