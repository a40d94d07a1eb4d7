"""A pytest plugin for `make sanitize`: the tests use the kernels in the folder BAYESWISE_KERNELS."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import bayeswise


def use_kernels(folder: Path) -> None:
    (path,) = folder.glob("_kernels.*")
    spec = importlib.util.spec_from_file_location("bayeswise._kernels", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["bayeswise._kernels"] = bayeswise._kernels = module  # type: ignore[attr-defined]
    spec.loader.exec_module(module)


if "BAYESWISE_KERNELS" in os.environ:
    use_kernels(Path(os.environ["BAYESWISE_KERNELS"]))
