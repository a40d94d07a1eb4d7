"""Scripts that are run, shown with their pictures, and offered as notebooks; those of lectures with their outputs."""

from __future__ import annotations

import asyncio
import os
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

SETTINGS = {
    "examples_dirs": ["gallery", "lectures"],
    "gallery_dirs": ["generated/gallery", "generated/lectures"],
    "filename_pattern": r".*\.py",
    "within_subsection_order": "FileNameSortKey",
    "plot_gallery": True,
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_", "__repr__"),
    "remove_config_comments": True,
    "ignore_repr_types": "Display|Comparison$",
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 1_000,
    "download_all_examples": False,
    "image_scrapers": ("matplotlib",),
    "reset_modules": ("matplotlib",),
}
EXECUTED = "generated/lectures"
IN_NOTEBOOKS = "module://matplotlib_inline.backend_inline"  # the pages themselves are drawn without a kernel
KERNELS = 2  # at a time
SECONDS = 100  # that a cell may take


def kinds_of_outputs(notebook: Mapping[str, Any]) -> set[str]:
    """What the cells of an executed notebook show: text that was printed, and the kinds of values.

    >>> printed, drawn = {"name": "stdout", "text": "4"}, {"data": {"image/png": "...", "text/plain": "..."}}
    >>> sorted(kinds_of_outputs({"cells": [{"source": "# text"}, {"outputs": [printed]}, {"outputs": [drawn]}]}))
    ['image/png', 'stdout', 'text/plain']
    """
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", ())]
    return {kind for output in outputs for kind in output.get("data", [output.get("name", "error")])}


async def execute(path: Path, free: asyncio.Semaphore) -> None:
    """Run a notebook in a kernel of its own and keep its outputs: the same script gives the same bytes."""
    import nbformat
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    async with free:
        with tempfile.TemporaryDirectory() as folder:
            kernel = AsyncKernelManager(kernel_name="python3", transport="ipc", ip=f"{folder}/kernel")
            client = NotebookClient(notebook, km=kernel, timeout=SECONDS, record_timing=False, coalesce_streams=True)
            try:
                await client.async_execute(env={**os.environ, "MPLBACKEND": IN_NOTEBOOKS})
            finally:
                await kernel.shutdown_kernel(now=True)
    if "image/png" not in kinds_of_outputs(notebook):
        raise RuntimeError(f"{path.name} was executed, but there is no picture among its outputs")
    notebook.metadata["language_info"].pop("version", None)  # of the Python that built the site
    nbformat.write(notebook, path)
    with zipfile.ZipFile(path.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for file in (path.with_suffix(".py"), path):
            archive.writestr(zipfile.ZipInfo(file.name), file.read_bytes(), zipfile.ZIP_DEFLATED)


async def execute_all(folder: Path) -> None:
    """Run every notebook of a folder."""
    free = asyncio.Semaphore(KERNELS)
    await asyncio.gather(*(execute(path, free) for path in sorted(folder.glob("*.ipynb"))))


def initialised(app: Sphinx) -> None:
    if app.builder.format == "html":
        asyncio.run(execute_all(Path(app.srcdir) / EXECUTED))


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", initialised, priority=900)  # after the scripts have become notebooks
    return {"parallel_read_safe": True, "parallel_write_safe": True}
