"""Learning curves: the accuracy after each label, strategy by strategy, over several shuffles of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray, IntArray
from bayeswise.foundation.errors import ParameterError

if TYPE_CHECKING:
    from bayeswise.acquisition.plots import LearningCurveDisplay


@dataclass(frozen=True, eq=False)
class LearningCurves:
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

        For good: it does not fall below again within the curve. The first time may be luck, the more so the more
        restless a curve is.
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

    def to_frame(self) -> Any:
        """`to_columns` in the dataframe library that is installed, or as it is."""
        from bayeswise.render.plain import as_frame

        return as_frame(self.to_columns())

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
