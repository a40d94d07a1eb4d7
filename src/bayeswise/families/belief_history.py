"""A belief in the parameters of a family, datum by datum: prior, posterior after the first, after the second, ..."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from inspect import get_annotations
from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import FitError, ParameterError, SupportError
from bayeswise.render.plain import Tabular
from bayeswise.tables.schema.labels import Vocabulary, find_state

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from bayeswise.families.plots import BeliefDisplay
    from bayeswise.render.display import Chosen

_LIMITS = (0.025, 0.975)


@dataclass(frozen=True, eq=False)
class BeliefHistory(Tabular):
    """Conjugate posteriors, each the prior of the next.

    >>> from bayeswise.families import Bernoulli, BetaPrior
    >>> coin = Bernoulli().beliefs(BetaPrior(successes=1, failures=1), [1, 1, 0])
    >>> coin.beliefs[-1], coin.to_columns()["mean"]
    (BetaPrior(successes=3, failures=2), [0.5, 0.6666666666666666, 0.75, 0.6])
    """

    family: Any
    data: tuple[Any, ...]
    beliefs: tuple[Any, ...]  # (n_data + 1,)

    @classmethod
    def of(cls, family: Any, prior: Any, data: Sequence[Any]) -> BeliefHistory:
        """Take the data one by one; missing ones change nothing."""
        _refuse_another_prior(family, prior)
        beliefs = [prior]
        for position, datum in enumerate(data):
            try:
                statistic = _statistic(family, prior, datum)
            except SupportError as error:
                raise error.in_sample(position) from None
            beliefs.append(family.posterior(statistic, beliefs[-1]))
        return cls(family, tuple(data), tuple(beliefs))

    def marginals(self, step: int, parameter: str | None = None) -> dict[str, Any]:
        """The distribution of each parameter after `step` data, by name.

        A normal-inverse-gamma belief has a mean and a variance: `parameter` chooses, by default the mean.
        """
        from scipy import stats

        belief = self.beliefs[step]
        if hasattr(belief, "levels"):
            weight = np.reshape(belief.weight, -1)
            total = float(weight.sum()) + float(np.sum(belief.unseen))
            return {
                str(level): stats.beta(float(w), total - float(w))
                for level, w in zip(belief.levels, weight, strict=True)
            }
        names = {each.name: _one(getattr(belief, each.name)) for each in fields(belief) if each.repr}
        if set(names) == {"successes", "failures"}:
            return {"probability": stats.beta(names["successes"], names["failures"])}
        if set(names) == {"mean", "stddev"}:
            return {"mean": stats.norm(names["mean"], names["stddev"])}
        if set(names) == {"shape", "rate"}:
            return {"rate": stats.gamma(names["shape"], scale=1.0 / names["rate"])}
        if set(names) == {"mean", "strength", "shape", "scale"}:
            return {parameter or "mean": _of_normal(names, parameter or "mean", stats)}
        raise ParameterError(f"a belief of type {type(belief).__name__} is not drawn", fix="choose one parameter")

    def to_columns(self, parameter: str | None = None) -> dict[str, list[Any]]:
        """step, datum, and mean and 95 % interval of the parameter; of each level where there are several."""
        columns: dict[str, list[Any]] = {"step": list(range(len(self.beliefs))), "datum": [None, *self.data]}
        every = [self.marginals(step, parameter) for step in range(len(self.beliefs))]
        for name in every[0]:
            end = f"_{name}" if len(every[0]) > 1 else ""
            columns[f"mean{end}"] = [float(each[name].mean()) for each in every]
            for column, level in zip(("low", "high"), _LIMITS, strict=True):
                columns[f"{column}{end}"] = [float(each[name].ppf(level)) for each in every]
        return columns

    def plot(
        self, ax: Any = None, *, steps: Chosen = None, most_panels: int = 4, parameter: str | None = None
    ) -> BeliefDisplay:
        """Draw the belief after chosen numbers of data, after "all" of them, or some between first and last."""
        from bayeswise.families.plots import BeliefDisplay

        return BeliefDisplay(self, steps=steps, most_panels=most_panels, parameter=parameter).plot(ax)

    def animate(
        self, path: str | os.PathLike[str], *, steps: Chosen = None, seconds: float = 0.8, parameter: str | None = None
    ) -> Path:
        """Write a GIF of the belief, datum by datum."""
        from bayeswise.families.plots import BeliefDisplay

        return BeliefDisplay(self, steps=steps, parameter=parameter).animate(path, seconds=seconds)

    def __repr__(self) -> str:
        return f"BeliefHistory({self.beliefs[0]!r} to {self.beliefs[-1]!r}, {len(self.data):,} data)"


def _refuse_another_prior(family: Any, prior: Any) -> None:
    """An error for a prior that is not conjugate to the family: `posterior` names the one that is."""
    needed = str(get_annotations(type(family).posterior).get("prior", "Any"))
    if needed not in ("Any", type(prior).__name__):
        raise ParameterError(
            f"the prior of the {family.name} family is a {needed}; found {prior!r}",
            fix=f"give {needed}(...), or choose another family",
        )


def _statistic(family: Any, prior: Any, datum: Any) -> Any:
    if hasattr(prior, "levels"):
        levels = Vocabulary(list(prior.levels))
        code = -1 if datum is None else find_state(datum, tuple(prior.levels), what="there is no level")
        return family.statistic(np.array([code], dtype=np.int32), levels)
    return family.statistic([np.nan if datum is None else float(datum)])


def _of_normal(names: dict[str, float], parameter: str, stats: Any) -> Any:
    shape, scale = names["shape"], names["scale"]
    if parameter == "mean":
        return stats.t(2.0 * shape, names["mean"], np.sqrt(scale / (shape * names["strength"])))
    if parameter == "variance":
        return stats.invgamma(shape, scale=scale)
    raise ParameterError(f"a normal belief has no parameter {parameter!r}", fix='choose "mean" or "variance"')


def _one(value: Any) -> float:
    flat = np.reshape(np.asarray(value, dtype=np.float64), -1)
    if len(flat) != 1:
        raise FitError(f"a belief in {len(flat)} distributions is not one history", fix="give the prior of one")
    return float(flat[0])
