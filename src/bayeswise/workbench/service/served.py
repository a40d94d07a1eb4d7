"""The models in memory: loaded when they are first requested, replaced whole when their file changes."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from bayeswise.decisions.costs.costs import Costs
from bayeswise.decisions.costs.decision_file import DecisionFile
from bayeswise.decisions.costs.warnings import CostWarning
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import BayeswiseError, KindError, NotFoundError, quoted
from bayeswise.models.base.table_model import TableModel, capabilities_of
from bayeswise.models.files import inner_of, kind_of, load
from bayeswise.networks.formats import MODEL_SUFFIX
from bayeswise.workbench.workspace import Workspace

_LOOK_AGAIN = 0.05  # seconds during which a file is taken to be as it was


@dataclass(frozen=True)
class Served:
    """A model and the decision beside it, as they were read together."""

    name: str
    model: Any
    kind: str
    signature: tuple[Any, ...]
    decision: DecisionFile | None
    costs: Costs | None
    prior: FloatArray | None

    @property
    def version(self) -> str:
        """A version that changes with the file."""
        return "-".join(f"{part:x}" for part in self.signature[0])

    def ignored(self, names: Iterable[str]) -> list[str]:
        """Names that neither the model nor its costs use."""
        schema = self.model.schema
        known = {*schema.names, *(() if schema.target is None else (schema.target.name,)), *self._cost_columns}
        return [name for name in names if name not in known]

    @property
    def _cost_columns(self) -> tuple[str, ...]:
        return () if self.costs is None else self.costs.columns


class ServedModels:
    """Models by name: NAME is the file NAME.bayeswise, and NAME.toml beside it is its decision."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._found: dict[str, Served] = {}
        self._seen: dict[str, float] = {}
        self._loading = threading.Lock()
        self.reloads = 0
        self.failures: dict[str, str] = {}

    def names(self) -> list[str]:
        """The names of all model files."""
        files = [file.name for file in self._workspace.files() if file.kind == "model"]
        return [name.removesuffix(MODEL_SUFFIX) for name in files]

    def get(self, name: str) -> Served:
        """The model as its file is now; while a new file cannot be read, the old model goes on answering."""
        held = self._found.get(name)
        now = time.monotonic()
        if held is not None and now - self._seen[name] < _LOOK_AGAIN:
            return held
        path, decision_path = self._paths(name)
        signature = (_signature(path), _signature(decision_path))
        if held is not None and held.signature == signature:
            self._seen[name] = now
            return held
        with self._loading:
            held = self._found.get(name)
            if held is None or held.signature != signature:
                held = self._loaded(name, path, decision_path, signature, held)
                self._found[name] = held
            self._seen[name] = time.monotonic()
        return held

    def loaded(self) -> list[Served]:
        """The models in memory."""
        return list(self._found.values())

    def _paths(self, name: str) -> tuple[Path, Path]:
        try:
            return self._workspace.file(f"{name}{MODEL_SUFFIX}"), self._workspace.place(f"{name}.toml")
        except NotFoundError:
            self._found.pop(name, None)
            raise NotFoundError(
                f"there is no model {quoted(name)}", fix="choose one that GET /api/v1/models lists"
            ) from None

    def _loaded(
        self, name: str, path: Path, decision_path: Path, signature: tuple[Any, ...], held: Served | None
    ) -> Served:
        try:
            model = load(path)
            if not isinstance(model, TableModel):
                raise KindError(
                    f"{name!r} holds a {kind_of(inner_of(model))}, not a model of a table", fix="choose another"
                )
            decision, costs, prior = _decision_of(model, decision_path)
        except BayeswiseError as error:
            self.failures[name] = str(error)
            if held is None:
                raise
            return Served(name, held.model, held.kind, signature, held.decision, held.costs, held.prior)
        self.failures.pop(name, None)
        self.reloads += held is not None
        return Served(name, model, kind_of(inner_of(model)), signature, decision, costs, prior)


def _decision_of(model: Any, decision_path: Path) -> tuple[DecisionFile | None, Costs | None, FloatArray | None]:
    if not decision_path.is_file() or not capabilities_of(model).classes:
        return None, None, None
    with warnings.catch_warnings(action="ignore", category=CostWarning):
        decision = DecisionFile.read(decision_path, model.classes)
    return decision, decision.costs.aligned(model.classes), decision.prior_of(model.classes)


def _signature(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    return status.st_ino, status.st_size, status.st_mtime_ns
