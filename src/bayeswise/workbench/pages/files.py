"""The files of the workspace, which every page chooses from."""

from __future__ import annotations

from fastapi import APIRouter

from bayeswise import __version__
from bayeswise.workbench.bench import Bench
from bayeswise.workbench.messages import PROBLEMS, FileView, Said


class WorkspaceView(Said):
    """The folder, and what in it a page can open."""

    folder: str
    version: str
    files: list[FileView]


def routes(bench: Bench) -> APIRouter:
    """GET /api/files."""
    router = APIRouter(prefix="/api", tags=["files"], responses=PROBLEMS)

    @router.get("/files")
    def files() -> WorkspaceView:
        """The tables, models, decisions, networks, label sessions and reports of the workspace."""
        found = [FileView(**vars(entry)) for entry in bench.workspace.files()]
        return WorkspaceView(folder=bench.workspace.root.name or "/", version=__version__, files=found)

    return router
