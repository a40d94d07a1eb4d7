"""All kinds of models of one table, each by rows that it never saw: which is best, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bayeswise.evaluation.evaluate import Evaluation, compare, evaluate
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import BayeswiseError, FitError, TooLargeError
from bayeswise.models.fitting import learned
from bayeswise.models.registry import MODELS, kind_of_name
from bayeswise.render.labels import Label
from bayeswise.statistics.intervals import Estimate, mean_with_interval, variance_inflation

MOST_CLASSES_OF_AUTO = 20  # above it auto is compared only if it is named


@dataclass(frozen=True, eq=False)
class Compared:
    """A model in a comparison; `difference` is what it loses more than the best, row by row."""

    name: str
    evaluation: Evaluation
    difference: Estimate | None = None  # None: it is the best

    @property
    def log_loss(self) -> Estimate:
        return self.evaluation.log_loss

    @property
    def error(self) -> float:
        return 1.0 - self.evaluation.accuracy

    @property
    def cost(self) -> Estimate:
        return self.evaluation.cost_per_case

    @property
    def as_good(self) -> bool:
        """Whether it is not significantly worse than the best."""
        return self.difference is None or self.difference.low <= 0.0


@dataclass(frozen=True, eq=False)
class Comparison:
    """The models from the best on, and those that could not be learned with the reason."""

    models: tuple[Compared, ...]
    failed: dict[str, BayeswiseError]
    by: str  # "log-loss" or "cost"
    how: str  # "5 folds"
    n_rows: int

    @property
    def best(self) -> Compared:
        return self.models[0]


def names_of_classifiers() -> list[str]:
    """The kinds of models that predict classes, the most expensive last."""
    return sorted((kind.name for kind in MODELS if kind.name != "linear"), key=lambda name: name == "auto")


def compare_models(
    table: Any,
    target: str,
    costs: Any = None,
    *,
    models: Sequence[str] | None = None,
    cv: int = 5,
    progress: Callable[[str], None] | None = None,
    kinds: Mapping[str, str] | None = None,
    levels: Mapping[str, Sequence[Label]] | None = None,
    ignore: Sequence[str] | None = None,
    weight: str | None = None,
    missing: str | Mapping[str, str] | None = None,
    unseen: str | Mapping[str, str] | None = None,
) -> Comparison:
    """Learn every kind of model and evaluate it in folds, everything that rows select selected again in each.

    Sorted by what decisions cost where there are `costs`, else by log-loss. Settings about columns are those of
    `bw.fit`, and where they are left out each model's own; a kind of model that cannot learn from the table is among
    the failed.

    >>> rows = [{"wind": w, "play": p} for w, p in zip("aaabbbbb" * 5, "yyynnnyn" * 5)]
    >>> found = compare_models(rows, "play", models=["naive-bayes", "gaussian"])
    >>> found.best.name, list(found.failed)
    ('naive-bayes', ['gaussian'])
    """
    given: dict[str, Any] = {
        "kinds": kinds,
        "levels": levels,
        "ignore": ignore,
        "weight": weight,
        "missing": missing,
        "unseen": unseen,
    }
    columns = {name: value for name, value in given.items() if value is not None}
    found: dict[str, Evaluation] = {}
    failed: dict[str, BayeswiseError] = {}
    n_classes = 0
    for name in models if models is not None else names_of_classifiers():
        kind = kind_of_name(name).name
        if models is None and kind == "auto" and n_classes > MOST_CLASSES_OF_AUTO:
            failed[kind] = TooLargeError(
                f"it learns every model in folds of folds, which takes long with {n_classes} classes",
                fix="name it: --models auto",
            )
            continue
        if progress is not None:
            progress(kind)
        try:
            model, _ = learned(table, target, model=kind, **columns)
            found[kind] = evaluate(model, table, costs, cv=cv)
            n_classes = len(np.unique(found[kind].truth))
        except BayeswiseError as error:
            error.__context__ = error.__cause__ = None
            failed[kind] = error.with_traceback(None)  # which would hold on to the table
    if not found:
        name, why = next(iter(failed.items()))
        raise FitError(f"no model can learn from the table; {name}: {why.what}", fix=why.fix or "look at the table")
    by = "log-loss" if costs is None else "cost"
    scores = {name: (each.log_loss if costs is None else each.cost_per_case).mean for name, each in found.items()}
    ordered = sorted(found, key=scores.__getitem__)
    best = found[ordered[0]]
    lines = [Compared(ordered[0], best)]
    lines += [Compared(name, found[name], _difference(found[name], best, by)) for name in ordered[1:]]
    return Comparison(tuple(lines), failed, by, best.how, len(best.truth))


def _difference(one: Evaluation, best: Evaluation, by: str) -> Estimate:
    """What one loses more than the best in the same rows: what both lose alike is not noise."""
    if by == "cost":
        return compare(one, best).difference
    with np.errstate(invalid="ignore"):
        difference = one.surprise - best.surprise
    if not np.isfinite(difference).all():
        return Estimate(np.inf, -np.inf, np.inf)
    inflation = variance_inflation(max(one.n_folds, best.n_folds))
    return mean_with_interval(difference, one.weights, one.level, inflation=inflation)
