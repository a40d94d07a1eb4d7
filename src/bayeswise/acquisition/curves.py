"""Learning curves: sessions against an oracle column, strategy by strategy, over several shuffles of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from bayeswise.acquisition.learner import RANDOM_SHARE, ActiveLearner
from bayeswise.acquisition.pool import VARIANCE_FLOOR, Pool
from bayeswise.acquisition.pool_beliefs import BeliefsOfFewRows, beliefs_of
from bayeswise.foundation.arguments import whole_number
from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError
from bayeswise.foundation.progress import StepsBar
from bayeswise.render.plain import Tabular
from bayeswise.tables.schema.labels import Label, Vocabulary
from bayeswise.tables.schema.names import find_name
from bayeswise.tables.schema.overrides import SchemaOverrides, spelling_overrides
from bayeswise.tables.source import Source, open_source

if TYPE_CHECKING:
    from bayeswise.acquisition.plots import LearningCurveDisplay


@dataclass(frozen=True, eq=False)
class LearningCurves(Tabular):
    """The accuracy after each label, by strategy; and that of the model of all labels of the pool."""

    title: str
    accuracy: dict[str, FloatArray]  # (n_seeds, n_labels)
    full: FloatArray  # (n_seeds,)
    n_pool: int
    n_test: int = 0  # rows held out; none: the accuracy is that of the pool itself

    @property
    def n_labels(self) -> int:
        return int(next(iter(self.accuracy.values())).shape[1])

    def labels_to_reach(self, share: float = 0.99, *, for_good: bool = True) -> dict[str, IntArray]:
        """(n_seeds,) after how many labels the accuracy is this share of the full one; one more than all if never.

        For good: it does not fall below again within the curve. The first time may be luck, the more so the noisier
        a curve is.
        """
        enough = _share(share) * self.full[:, None]
        return {name: _reached(accuracy < enough, for_good) for name, accuracy in self.accuracy.items()}

    def mean_labels_to_reach(self, share: float = 0.99, *, for_good: bool = True) -> dict[str, float]:
        reached = self.labels_to_reach(share, for_good=for_good)
        return {name: float(labels.mean()) for name, labels in reached.items()}

    def labels_of_the_mean(self, share: float = 0.99) -> dict[str, int]:
        """After how many labels the mean accuracy over the seeds is, for good, this share of the mean full one.

        It is steadier than the mean of the labels each seed needs: in a test of a few rows, one of them decides when a
        seed has had enough.
        """
        enough = _share(share) * self.full.mean()
        means = {name: accuracy.mean(axis=0, keepdims=True) for name, accuracy in self.accuracy.items()}
        return {name: int(_reached(mean < enough, for_good=True)[0]) for name, mean in means.items()}

    def gain(self, strategy: str, over: str = "random") -> tuple[float, float]:
        """How much more accurate a strategy is on average over the curve, and the standard error of that.

        Both strategies meet the same shuffles, so that what the shuffles differ by cancels.
        """
        lead = (self._of(strategy) - self._of(over)).mean(axis=1)  # (n_seeds,)
        error = lead.std(ddof=1) / np.sqrt(len(lead)) if len(lead) > 1 else np.inf
        return float(lead.mean()), float(error)

    def band(self, strategy: str) -> tuple[FloatArray, FloatArray, FloatArray]:
        """(n_labels,) each: the mean over the seeds, and the quarters that hold the middle half of them."""
        accuracy = self._of(strategy)
        low, high = np.quantile(accuracy, [0.25, 0.75], axis=0)
        return accuracy.mean(axis=0), low, high

    def _of(self, strategy: str) -> FloatArray:
        if strategy not in self.accuracy:
            known = ", ".join(map(repr, self.accuracy))
            raise ParameterError(f"there is no curve of {strategy!r}", fix=f"choose one of {known}")
        return self.accuracy[strategy]

    def to_columns(self) -> dict[str, list[Any]]:
        """strategy, n_labels, accuracy (the mean), low and high of each point."""
        columns: dict[str, list[Any]] = {"strategy": [], "n_labels": [], "accuracy": [], "low": [], "high": []}
        for name in self.accuracy:
            mean, low, high = self.band(name)
            columns["strategy"] += [name] * self.n_labels
            columns["n_labels"] += range(1, self.n_labels + 1)
            columns["accuracy"] += mean.tolist()
            columns["low"] += low.tolist()
            columns["high"] += high.tolist()
        return columns

    def plot(self, ax: Any = None) -> LearningCurveDisplay:
        """Draw accuracy against labels, one line for each strategy."""
        from bayeswise.acquisition.plots import LearningCurveDisplay

        return LearningCurveDisplay(self).plot(ax)

    def display(self) -> LearningCurveDisplay:
        """As a picture."""
        from bayeswise.acquisition.plots import LearningCurveDisplay

        return LearningCurveDisplay(self)

    def __repr__(self) -> str:
        needed = ", ".join(f"{name} {n:.1f}" for name, n in self.mean_labels_to_reach().items())
        return f"LearningCurves({self.title}; labels to 99 % of the full accuracy: {needed})"


def _reached(below: BoolArray, for_good: bool) -> IntArray:
    """(n_seeds,) from (n_seeds, n_labels): after which label it is not below."""
    n_labels = below.shape[1]
    if for_good:
        return np.asarray(np.where(below.any(axis=1), n_labels - np.argmax(below[:, ::-1], axis=1), 0) + 1)
    return np.asarray(np.where(below.all(axis=1), n_labels, np.argmin(below, axis=1)) + 1)


def _share(share: float) -> float:
    if not (isinstance(share, Real) and 0 < share <= 1):
        raise ParameterError(f"the share of the full accuracy is {share!r}", fix="give one above 0, at most 1")
    return float(share)


@spelling_overrides
def learning_curves(
    table: Any,
    target: str,
    *,
    strategies: Sequence[str] = ("margin", "random"),
    n_labels: int = 100,
    n_seeds: int = 20,
    test_share: float = 1 / 3,
    random_share: float | Literal["auto"] = RANDOM_SHARE,
    warm_up: bool = True,
    average: bool = False,
    variance_floor: float = VARIANCE_FLOOR,
    costs: Any = None,
    progress: Callable[[int], None] | bool = False,
    **overrides: Unpack[SchemaOverrides],
) -> LearningCurves:
    """How soon each strategy learns: for each seed the rows are shuffled, and a share of them kept for the test.

    The target column is the oracle, and the labelled set starts empty. With test_share=0 the pool is all rows, and
    the accuracy that of labelling all of them. `progress=True` shows a bar where it takes long, a function gets the
    labels as they come.

    >>> rows = [{"x": float(k % 7 + 9 * (k % 2)), "y": "ab"[k % 2]} for k in range(60)]
    >>> learning_curves(rows, "y", n_labels=5, n_seeds=3, kinds={"x": "number"}).accuracy["margin"].shape
    (3, 5)
    """
    names = _strategies(strategies)
    whole_number(n_labels, "n_labels")
    whole_number(n_seeds, "n_seeds")
    _refuse_unless_share(test_share)
    source = open_source(table)
    truth = oracle_of(source, target)
    whole = Pool.of(source, target, Vocabulary.of(truth), **overrides)
    n_pool = _n_pool(len(truth), test_share)
    n_queries = min(n_labels, n_pool)
    how: dict[str, Any] = {"random_share": random_share, "warm_up": warm_up}
    accuracy = {name: np.empty((n_seeds, n_queries)) for name in names}
    full = np.empty(n_seeds)
    with StepsBar(shown=False, requested=progress is True) as bar:
        report = progress if callable(progress) else _LabelCount(bar, n_seeds * len(names) * n_queries)
        for seed in range(n_seeds):
            order = np.random.default_rng(seed).permutation(len(truth))
            rows, labels = whole.subset(order), [truth[row] for row in order.tolist()]
            pool = rows.subset(np.arange(n_pool))
            empty = pool.empty_model(average=average, variance_floor=variance_floor)
            test = HeldOut(rows, labels, n_pool if test_share else 0, empty)
            full[seed] = test.accuracy(empty.learn(pool.rows(range(n_pool), labels[:n_pool], empty.classes)))
            for name in names:
                learner = ActiveLearner(empty, costs, name, pool=pool, seed=seed, **how)
                accuracy[name][seed] = _curve(learner, labels, n_queries, test.measure(learner), report)
    title = f"{source.description}, {target}, {n_seeds} shuffle{'s' if n_seeds > 1 else ''}"
    return LearningCurves(title, accuracy, full, n_pool, len(truth) - n_pool)


def _curve(
    learner: ActiveLearner,
    labels: Sequence[Label],
    n: int,
    measure: Callable[[int], float],
    report: Callable[[int], None],
) -> list[float]:
    """The accuracy after each of n labels."""
    curve = []
    for _ in range(n):
        row = learner.query()[0].row
        learner.teach(row, labels[row])
        curve.append(measure(row))
        report(1)
    return curve


def oracle_of(source: Source, target: str) -> list[Label]:
    """The target column, without missing cells, of at least two classes."""
    name = find_name(target, [column.name for column in source.columns], where=source.description)
    truth: list[Label] = []
    for chunk in source.chunks([name]):
        codes, levels = chunk.labels(name)
        if (codes < 0).any():
            row = len(truth) + int(np.argmax(codes < 0)) + 1
            raise ParameterError(f"row {row} of {source.description} has no {target!r}", fix="leave out such rows")
        truth.extend(levels[code] for code in codes.tolist())
    n_classes = len(set(truth))
    if n_classes == 1:
        only = f"every row of {source.description} has the same {target!r}, {truth[0]!r}"
        raise ParameterError(only, fix="give rows of at least two classes")
    if n_classes == len(truth) > 2:
        own = f"each of the {len(truth)} rows of {source.description} has its own {target!r}"
        raise ParameterError(own, fix="name a column of classes, or cut its numbers into bands")
    return truth


def _strategies(given: Sequence[str]) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(dict.fromkeys(given))
    if not names:
        raise ParameterError("no strategy is named", fix='give strategies=("margin", "random")')
    return names


def _refuse_unless_share(test_share: float) -> None:
    if not (isinstance(test_share, Real) and 0 <= test_share < 1):
        raise ParameterError(f"test_share is {test_share!r}", fix="give a share from 0 on, below 1")


def _n_pool(n_rows: int, test_share: float) -> int:
    """The number of rows in the pool."""
    n_pool = max(1, round(n_rows * (1 - test_share)))
    if test_share and n_pool == n_rows:
        raise ParameterError(
            f"test_share {test_share:g} keeps none of {n_rows} rows for the test",
            fix="give a larger share, or 0 to measure on the pool itself",
        )
    return n_pool


class _LabelCount:
    """A bar that counts labels."""

    def __init__(self, bar: StepsBar, total: int) -> None:
        self._bar, self._total, self._done = bar, total, 0

    def __call__(self, labels: int) -> None:
        self._done += labels
        self._bar("Asking, labels", self._done, self._total)


class HeldOut:
    """The accuracy on rows whose labels are known: those of a table from a position on."""

    def __init__(self, rows: Pool, labels: Sequence[Label], first: int, empty: Any) -> None:
        self._rows, self._empty = rows, empty
        self._states = Vocabulary(empty.classes).encode(labels)
        self._held = np.arange(first, rows.n_rows)

    def accuracy(self, model: Any) -> float:
        """Of a model."""
        return self._of(np.asarray(model.probability(self._rows.subset(self._held).for_model(model))))

    def measure(self, learner: ActiveLearner) -> Callable[[int], float]:
        """A function that is called with the row that a learner, still empty, was taught: how accurate it is then.

        Of normal columns the posteriors of held-out rows are updated label by label: the exact model for each
        would take ten times as long.
        """
        beliefs = beliefs_of(self._rows, self._empty)
        if not isinstance(beliefs, BeliefsOfFewRows):
            return lambda row: self.accuracy(learner.model)

        def after(row: int) -> float:
            beliefs.learn((row, int(self._states[row])))
            return self._of(beliefs.posterior(self._held))

        return after

    def _of(self, posterior: FloatArray) -> float:
        return float((np.argmax(posterior, axis=1) == self._states[self._held]).mean())
