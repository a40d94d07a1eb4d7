"""p(x | class) of every class along one column, from a model or given: weighted, as a posterior, and who errs where."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise, product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from bayeswise.families.distributions import of_mapping
from bayeswise.foundation.arrays import FloatArray, IntArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ParameterError, listed
from bayeswise.foundation.logspace import log
from bayeswise.posteriors.line_regions import BayesError, Regions, regions
from bayeswise.posteriors.normalise import normalise
from bayeswise.posteriors.prior import prior_by_state
from bayeswise.render.labels import distinct_texts
from bayeswise.render.plain import Tabular
from bayeswise.tables.schema.labels import Label, find_state, label_of

if TYPE_CHECKING:
    from bayeswise.explanations.plots import BayesErrorDisplay, ClassDensityDisplay

Kind = Literal["number", "count", "category"]
_EDGE = 2e-4  # the probability beyond the picture at each end of each class
_FAR = 6.0  # distances between quartiles beyond them at which heavy tails are cut
_RARE = 1e-15  # the probability of counts that no sum looks at
_MOST_COUNTS = 2_000_000
_MOST_RULES = 100_000  # that are tried for boundaries without states


@dataclass(frozen=True, eq=False)
class Levels:
    """A distribution over levels, which are the values 0, 1, 2, ..."""

    log_p: FloatArray  # (n_levels,)

    def logpmf(self, x: Any) -> FloatArray:
        """log p(level)."""
        return self.log_p[np.asarray(x, dtype=np.int64)]


@dataclass(frozen=True, eq=False)
class ClassDensities(Tabular):
    """Classes with their priors and their distributions over one column: a number, a count or a category.

    >>> letters = ClassDensities.of(
    ...     {"a": {"mean": 15, "stddev": 3}, "b": {"mean": 25, "stddev": 4}}, {"a": 0.75, "b": 0.25}, family="normal"
    ... )
    >>> letters.regions
    Regions(x: 'b' | -16.5898 | 'a' | 20.8755 | 'b')
    >>> letters.error
    BayesError(0.0566245, by thresholds)
    >>> letters.error_of([24.0])
    BayesError(0.101336, 0.0447113 of it reducible, by thresholds)
    """

    column: str
    classes: tuple[Label, ...]
    prior: FloatArray  # (n_states,)
    likelihoods: tuple[Any, ...]  # one distribution for each class: `logpdf` or `logpmf`
    levels: tuple[Any, ...] = ()  # of a category

    @classmethod
    def of(
        cls,
        likelihoods: Mapping[Any, Any],
        prior: Mapping[Any, float] | None = None,
        *,
        family: str | None = None,
        column: str = "x",
    ) -> ClassDensities:
        """From {class: distribution}: one of scipy.stats, parameters by name with `family`, or {level: probability}.

        Without a prior all classes are equally probable.
        """
        classes = tuple(label_of(state) for state in likelihoods)
        if not classes:
            raise ParameterError("there is no class", fix="give {class: distribution}, such as {'a': norm(0, 1)}")
        given = list(likelihoods.values())
        even = dict.fromkeys(classes, 1.0 / len(classes))
        shares = prior_by_state(even if prior is None else prior, classes)
        if family is None and all(isinstance(each, Mapping) for each in given):
            return cls(column, classes, shares, *_levels_of(classes, given))
        made = [of_mapping(each, family) if family and isinstance(each, Mapping) else each for each in given]
        for state, each in zip(classes, made, strict=True):
            check_distribution(state, each)
        if len({hasattr(each, "logpdf") for each in made}) == 2:
            raise ParameterError("some classes have a density and some have counts", fix="give one kind for all")
        return cls(column, classes, shares, tuple(made))

    @property
    def kind(self) -> Kind:
        """What is measured."""
        if self.levels:
            return "category"
        return "number" if hasattr(self.likelihoods[0], "logpdf") else "count"

    # -- the three curves ---------------------------------------------------------------------------------------
    def log_density(self, x: Any) -> FloatArray:
        """(n_states, n_points) log p(x | class)."""
        values = np.asarray(x, dtype=np.float64)
        with np.errstate(all="ignore"):
            rows = [each.logpdf(values) if self.kind == "number" else each.logpmf(values) for each in self.likelihoods]
        return np.array(rows, dtype=np.float64)

    def density(self, x: Any) -> FloatArray:
        """(n_states, n_points) p(x | class); a density may exceed 1."""
        return np.exp(self.log_density(x))

    def weighted(self, x: Any) -> FloatArray:
        """(n_states, n_points) p(class) p(x | class)."""
        return np.exp(self.log_density(x) + log(self.prior)[:, None])

    def posterior(self, x: Any) -> FloatArray:
        """(n_states, n_points) p(class | x); NaN where no class has any density."""
        log_joint = (self.log_density(x) + log(self.prior)[:, None]).T
        unbounded = np.isposinf(log_joint)
        log_joint = np.where(unbounded.any(axis=1, keepdims=True), np.where(unbounded, 0.0, -np.inf), log_joint)
        possible = np.isfinite(log_joint).any(axis=1)
        found = np.full(log_joint.shape, np.nan)
        found[possible] = normalise(log_joint[possible]).probability
        return found.T

    def points(self, n: int = 801) -> FloatArray:
        """(n_points,) where to draw: all levels, all counts that occur, or n numbers and the thresholds."""
        if self.kind == "category":
            return np.arange(len(self.levels), dtype=np.float64)
        low, high = self.reach
        if self.kind == "count":
            return np.arange(low, high + 1.0)
        cuts = self.regions.thresholds
        inside = cuts[(cuts > low) & (cuts < high)]
        ends = [float(end) for each in self.likelihoods for end in each.ppf([0.0, 1.0])]
        edges = [end for end in ends if low <= end <= high]
        beside = np.concatenate([np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf)])
        found = np.unique(np.concatenate([np.linspace(low, high, n), inside, beside]))
        return np.asarray(found)

    @cached_property
    def reach(self) -> tuple[float, float]:
        """Where nearly all of every possible class lies; heavy tails are cut."""
        seen = [each for each, share in zip(self.likelihoods, self.prior.tolist(), strict=True) if share > 0.0]
        levels = np.array([_EDGE, 0.25, 0.75, 1.0 - _EDGE])
        found = np.array([np.asarray(each.ppf(levels), dtype=np.float64) for each in seen])
        spread = np.maximum(found[:, 2] - found[:, 1], 1.0 if self.kind == "count" else 0.0)
        low = float(np.maximum(found[:, 0], found[:, 1] - _FAR * spread).min())
        high = float(np.minimum(found[:, 3], found[:, 2] + _FAR * spread).max())
        if self.kind == "count":
            return float(np.floor(low)), float(np.ceil(high))
        margin = 0.02 * (high - low)
        return low - margin, high + margin

    # -- decisions ------------------------------------------------------------------------------------------------
    @cached_property
    def regions(self) -> Regions:
        """Where each class is the most probable; of equal ones the first. Thresholds of counts lie between them."""
        if self.kind == "number":
            edges, winners = regions(1.0 - np.eye(len(self.classes)), self.prior, self.likelihoods)
            return Regions(self.column, np.array(edges), tuple(self.classes[k] for k in winners))
        x = self._all_values
        best = self.winners(x)
        changes = np.flatnonzero(np.diff(best))
        states = tuple(self.classes[int(k)] for k in [best[0], *best[changes + 1]])
        return Regions(self.column, x[changes] + 0.5, states)

    def winners(self, x: Any) -> IntArray:
        """(n_points,) the position of the most probable class at each x."""
        return np.asarray(np.argmax(self.log_density(x) + log(self.prior)[:, None], axis=0))

    @cached_property
    def _all_values(self) -> FloatArray:
        """(n,) every level, or every count that is not out of the question."""
        if self.kind == "category":
            return np.arange(len(self.levels), dtype=np.float64)
        ends = np.array([each.ppf([_RARE, 1.0 - _RARE]) for each in self.likelihoods])
        low, high = float(np.floor(ends[:, 0].min())), float(np.ceil(ends[:, 1].max()))
        if high - low > _MOST_COUNTS:
            raise ParameterError(f"the counts reach from {low:g} to {high:g}", fix="describe them by a density")
        return np.arange(low, high + 1.0)

    @cached_property
    def error(self) -> BayesError:
        """How often the best rule errs: no rule errs less."""
        lost = self._lost(self.regions.thresholds.tolist(), self.regions.states)
        return BayesError(sum(lost), sum(lost), 0.0, self._method, lost)

    def error_of(self, boundaries: float | Sequence[float], states: Sequence[Any] | None = None) -> BayesError:
        """The error of a rule that changes at these boundaries, of which `irreducible` is what any rule has.

        `states` are the classes between the boundaries, one more than there are; by default those with which the
        rule errs least, if neighbours differ.
        """
        cuts, taken = self.rule_of(boundaries, states)
        lost = self._lost(cuts, taken)
        return BayesError(sum(lost), self.error.error, 0.0, self._method, lost)

    def rule_of(
        self, boundaries: float | Sequence[float], states: Sequence[Any] | None = None
    ) -> tuple[list[float], tuple[Label, ...]]:
        """The boundaries, and the class in each region between them."""
        given: Iterable[Any] = boundaries if isinstance(boundaries, Iterable) else [boundaries]
        cuts = [float(cut) for cut in given]
        if not cuts or cuts != sorted(set(cuts)) or not np.isfinite(cuts).all():
            raise ParameterError(f"the boundaries are {cuts}", fix="give finite numbers, rising")
        if self.kind == "category":
            raise ParameterError(f"{self.column} has levels, which no boundary separates", fix="leave the boundary out")
        if states is not None:
            if len(states) != len(cuts) + 1:
                raise ParameterError(
                    f"{len(cuts)} boundaries make {len(cuts) + 1} regions; found {len(states)} classes",
                    fix="name one class for each region",
                )
            return cuts, tuple(self.classes[find_state(state, self.classes)] for state in states)
        return cuts, self._least_lost(cuts)

    def _least_lost(self, cuts: list[float]) -> tuple[Label, ...]:
        """The classes between the boundaries with which least is lost, neighbours different."""
        if len(self.classes) < 2:
            return (self.classes[0],) * (len(cuts) + 1)
        mass = self._mass(cuts)  # (n_states, n_regions)
        if len(self.classes) ** (len(cuts) + 1) > _MOST_RULES:
            raise ParameterError(f"{len(cuts)} boundaries leave too many rules open", fix="name the states")
        rules = (
            rule
            for rule in product(range(len(self.classes)), repeat=len(cuts) + 1)
            if all(one != other for one, other in pairwise(rule))
        )
        best = max(rules, key=lambda rule: sum(mass[state, k] for k, state in enumerate(rule)))
        return tuple(self.classes[state] for state in best)

    @property
    def _method(self) -> Literal["thresholds", "sums"]:
        return "thresholds" if self.kind == "number" else "sums"

    def _lost(self, cuts: Sequence[float], states: Sequence[Label]) -> tuple[float, ...]:
        """For each class, the share of all cases that are of it and taken for another."""
        mass = self._mass(cuts)
        kept = [[taken == state for taken in states] for state in self.classes]
        return tuple(np.where(kept, 0.0, mass).sum(axis=1).tolist())

    def _mass(self, cuts: Sequence[float]) -> FloatArray:
        """(n_states, n_regions) p(class) P(x in the region | class)."""
        if self.kind == "number":
            shares = np.array([shares_between(each, cuts) for each in self.likelihoods])
        else:
            x = self._all_values
            region = np.searchsorted(cuts, x)
            density = self.density(x)
            shares = np.array([np.bincount(region, weights=each, minlength=len(cuts) + 1) for each in density])
        return np.asarray(self.prior[:, None] * shares)

    # -- as data and pictures -----------------------------------------------------------------------------------
    def to_columns(self) -> dict[str, list[Any]]:
        """The column, and density, weighted density and posterior of each class."""
        x = self.points()
        curves = {"density": self.density(x), "weighted": self.weighted(x), "posterior": self.posterior(x)}
        values = list(self.levels) if self.levels else x.tolist()
        found: dict[str, list[Any]] = {self.column: values}
        for name, rows in curves.items():
            texts = distinct_texts(self.classes)
            found |= {f"{name}_{text}": row.tolist() for text, row in zip(texts, rows, strict=True)}
        return found

    def plot(self, ax: Any = None, *, panels: Sequence[str] | None = None, title: str = "") -> ClassDensityDisplay:
        """Draw p(x | class), p(class) p(x | class) and p(class | x) above each other, and the regions below.

        `panels` are some of "density", "weighted" and "posterior".
        """
        from bayeswise.explanations.plots import ClassDensityDisplay

        return ClassDensityDisplay(self, panels=panels, title=title).plot(ax)

    def plot_error(
        self,
        boundary: float | Sequence[float] | None = None,
        ax: Any = None,
        *,
        states: Sequence[Any] | None = None,
        title: str = "",
    ) -> BayesErrorDisplay:
        """Draw the error of the best rule as an area, or that of boundaries chosen by hand and what they add."""
        from bayeswise.explanations.plots import BayesErrorDisplay

        return BayesErrorDisplay(self, boundary, states=states, title=title).plot(ax)

    def __repr__(self) -> str:
        shares = listed((f"{c!r}: {p:.4g}" for c, p in zip(self.classes, self.prior.tolist(), strict=True)), 6)
        return f"ClassDensities({self.kind} {self.column!r} of {{{shares}}})"


def _levels_of(classes: tuple[Label, ...], given: Sequence[Any]) -> tuple[tuple[Levels, ...], tuple[Any, ...]]:
    """One distribution for each class over the levels of all of them; those it does not name have probability 0."""
    names = tuple(dict.fromkeys(level for each in given for level in each))
    if not names:
        raise ParameterError("there is no level", fix="give {class: {level: probability}}")
    made = []
    for state, each in zip(classes, given, strict=True):
        p = np.array([float(each.get(level, 0.0)) for level in names])
        if not (np.isfinite(p).all() and (p >= 0.0).all() and abs(p.sum() - 1.0) < 1e-9):
            raise ParameterError(
                f"the probabilities of {state!r} sum to {p.sum():.6g}",
                fix='let them sum to 1; parameters by name need family=, such as family="normal"',
            )
        made.append(Levels(log(p)))
    return tuple(made), names


def check_distribution(state: Label, given: Any, *, number: bool = False) -> None:
    """Refuse what is not a distribution (of a number), and one whose parameters make it none."""
    word, by_name = ("density", "") if number else ("distribution", ', or parameters by name and family="normal"')
    needs = ("logpdf" if number or hasattr(given, "logpdf") else "logpmf", "cdf", "ppf")
    lacks = [name for name in needs if not callable(getattr(given, name, None))]
    if lacks:
        raise ParameterError(
            f"the {word} of {state!r} has no {lacks[0]}; found {type(given).__name__}",
            fix=f"give one of scipy.stats, such as norm(0, 1){by_name}",
        )
    with np.errstate(all="ignore"):
        quartiles = np.asarray(given.ppf(np.array([0.25, 0.75])), dtype=np.float64)
    if not np.isfinite(quartiles).all() or (needs[0] == "logpdf" and not quartiles[0] < quartiles[1]):
        raise ParameterError(
            f"the {word} of {state!r} has the quartiles {quartiles[0]:g} and {quartiles[1]:g}",
            fix="give it a spread above 0",
        )


def shares_between(given: Any, cuts: Sequence[float]) -> FloatArray:
    """(n_regions,) the probability of each region, without cancellation in the right tail."""
    below = np.concatenate([[0.0], [float(given.cdf(cut)) for cut in cuts], [1.0]])
    found = np.diff(below)
    if callable(getattr(given, "sf", None)):
        above = np.concatenate([[1.0], [float(given.sf(cut)) for cut in cuts], [0.0]])
        found = np.where(below[:-1] > 0.5, -np.diff(above), found)
    return np.asarray(found)
