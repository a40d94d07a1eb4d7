"""All kinds of models of one table, each by rows that it never saw: which is best, and by how much."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from bayeswise.decisions.decide import decide_rows
from bayeswise.evaluation.evaluate import Evaluation, compare, evaluate
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import BayeswiseError, CostError, DataError, FitError, TooLargeError
from bayeswise.models.fitting import learned
from bayeswise.models.held_out import FoldsError
from bayeswise.models.registry import MODELS, kind_of_name
from bayeswise.posteriors.calibration import turns
from bayeswise.render.labels import Label
from bayeswise.statistics.intervals import Estimate, mean_with_interval, variance_inflation

BASELINE = "baseline (prior only)"
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
    baseline: Compared  # the shares of the classes outside each fold
    unlearned: dict[Label, int]  # classes without a row outside a fold, and how many of their rows are in it

    @property
    def beats_baseline(self) -> bool:
        """Whether the best model is better than the class shares by more than the interval of the difference."""
        return not self.baseline.as_good

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
    the failed. The baseline has the class shares of the other folds and no columns. Rows of a class that no other fold
    has count with log(n) nats: no model can know it.

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
        except CostError:  # about no model
            raise
        except FoldsError as error:  # of all models
            fix = f"choose cv={error.n_rows}" if error.n_rows else error.fix
            raise FoldsError(error.what, fix=fix) from None
        except BayeswiseError as error:
            error.__context__ = error.__cause__ = None
            failed[kind] = error.with_traceback(None)  # which would hold on to the table
    if not found:
        name, why = next(iter(failed.items()))
        if isinstance(why, DataError):  # of the table, whatever the model
            linear, fix = "model='linear' (--model linear)", why.fix or "look at the table"
            raise type(why)(why.what, fix=fix.replace(linear, "which is not compared (bayeswise fit --model linear)"))
        raise FitError(f"no model can learn from the table; {name}: {why.what}", fix=why.fix or "look at the table")
    by = "log-loss" if costs is None else "cost"
    shares = by_shares(next(iter(found.values())))
    unlearned = _unlearned(shares)
    found = {name: _at_most(each, shares) for name, each in found.items()}
    shares = _at_most(shares, shares)
    scores = {name: (each.log_loss if costs is None else each.cost_per_case).mean for name, each in found.items()}
    ordered = sorted(found, key=scores.__getitem__)
    best = found[ordered[0]]
    lines = [Compared(ordered[0], best)]
    lines += [Compared(name, found[name], _difference(found[name], best, by)) for name in ordered[1:]]
    baseline = Compared(BASELINE, shares, _difference(shares, best, by))
    return Comparison(tuple(lines), failed, by, best.how, len(best.truth), baseline, unlearned)


def by_shares(found: Evaluation) -> Evaluation:
    """The same rows in the same folds by a model without columns: the class shares outside each fold.

    >>> rows = [{"x": x, "y": y} for x, y in zip("abababab", "nnnnyyyy")]
    >>> round(by_shares(evaluate(learned(rows, "y", model="naive-bayes")[0], rows, cv=2)).log_loss.mean, 6)  # log 2
    0.693147
    """
    states, truth, n_folds = found.decisions.states, found.truth, found.n_folds
    folds = turns(truth, n_folds)
    mass = np.zeros((n_folds, len(states)))
    np.add.at(mass, (folds, truth), found.weights)
    outside = np.stack([np.delete(mass, k, axis=0).sum(axis=0) for k in range(n_folds)])  # (n_folds, n_states)
    posterior = (outside / outside.sum(axis=1, keepdims=True))[folds]
    decisions = decide_rows(posterior, found.decisions.costs, found.columns)
    inside = None if found.in_folds is None else by_shares(found.in_folds)
    return replace(found, decisions=decisions, log_own=None, in_folds=inside)


def _unlearned(shares: Evaluation) -> dict[Label, int]:
    """The classes without a row outside the fold of one of their rows, with the number of these rows."""
    states, counts = np.unique(shares.truth[np.isposinf(shares.surprise)], return_counts=True)
    return {shares.decisions.states[s]: int(n) for s, n in zip(states.tolist(), counts.tolist(), strict=True)}


def _at_most(found: Evaluation, shares: Evaluation) -> Evaluation:
    """Rows of a class without a row outside their fold count with log(n) nats, where a model rules them out."""
    unlearned = np.isposinf(shares.surprise)
    inside = found.in_folds
    if inside is not None and shares.in_folds is not None:
        inside = _at_most(inside, shares.in_folds)
    logs = np.full(len(unlearned), -np.inf) if found.log_own is None else found.log_own
    return replace(found, log_own=np.where(unlearned, np.maximum(logs, -np.log(len(logs))), logs), in_folds=inside)


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
