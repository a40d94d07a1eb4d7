"""A finite set of hypotheses, their prior, and their posterior after data: p(h | D) = p(D | h) p(h) / p(D)."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from bayeswise.foundation.arrays import BoolArray, FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError, PriorError, listed
from bayeswise.foundation.logspace import log, log_sum_exp
from bayeswise.models.hypotheses.combining import Answers, Combined, combine
from bayeswise.posteriors.normalise import normalise
from bayeswise.posteriors.prior import SUM_TOLERANCE
from bayeswise.render.labels import refuse_unknown
from bayeswise.render.numbers import exact as exact_number

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from bayeswise.models.hypotheses.plots import PosteriorDisplay
    from bayeswise.render.display import Chosen

_LIKELIHOOD = "give {datum: {hypothesis: probability}}, or a function of (hypothesis, datum)"

Likelihood: TypeAlias = Mapping[Any, Mapping[Any, Any]] | Callable[[Any, Any], Any]

_MOST_SHOWN = 20  # hypotheses on a page


@dataclass(frozen=True, eq=False, repr=False)
class HypothesisSpace:
    """p(h | D) = p(D | h) p(h) / sum over h' of p(D | h') p(h'), datum by datum.

    prior        probability by hypothesis, or a list of hypotheses that are equally probable
    likelihood   {datum: {hypothesis: probability}}, or a function of (hypothesis, datum); where only labels are
                 given, see `of_classifiers`
    exact        compute with fractions: every number stands for the digits it was typed with

    A frozen value: `observe` gives a new space, which remembers each step.

    >>> test = {"+": {"cancer": .98, "healthy": .03}, "-": {"cancer": .02, "healthy": .97}}
    >>> space = HypothesisSpace({"cancer": .008, "healthy": .992}, test, exact=True).observe("+")
    >>> space.posterior, space.map, space.ml
    ({'cancer': Fraction(49, 235), 'healthy': Fraction(186, 235)}, 'healthy', 'cancer')
    """

    prior: Mapping[Any, Any] | Iterable[Any]
    likelihood: Likelihood
    exact: bool = False
    data: tuple[Any, ...] = field(default=(), kw_only=True)
    steps: tuple[tuple[Any, ...], ...] = field(default=(), kw_only=True)  # p(datum | h) of each datum

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", _checked_prior(self.prior, self.exact))

    @cached_property
    def hypotheses(self) -> tuple[Any, ...]:
        """In the order of the prior."""
        return tuple(self.prior)

    @cached_property
    def _prior_weight(self) -> tuple[Any, ...]:
        return tuple(self.prior.values())  # type: ignore[union-attr]

    @classmethod
    def of_classifiers(
        cls,
        classifiers: Mapping[Any, Callable[[Any], Any]],
        labels: Iterable[Any] = (False, True),
        *,
        prior: Mapping[Any, Any] | None = None,
        noise: Any = 0,
        exact: bool = False,
    ) -> HypothesisSpace:
        """Hypotheses that say a label of each case; a datum is (case, label).

        p(label | case, h) = 1 - noise where h says so, and the noise shared out over the other labels where not.
        Without noise a hypothesis that errs once is out; with equal priors the others share 1 / |version space|.

        >>> bounds = {k: (lambda x, k=k: x >= k) for k in range(5)}
        >>> HypothesisSpace.of_classifiers(bounds, exact=True).observe((3, True), (1, False)).posterior[2]
        Fraction(1, 2)
        """
        known = tuple(labels)
        share = _number(noise, "noise", exact)
        if len(known) < 2 or not 0 <= share < 1:
            raise ParameterError(
                f"noise is a probability below 1, of at least two labels; found {noise!r} and {len(known)} labels",
                fix="give noise=0.05 or so, and all labels",
            )

        stranger = next((h for h in prior or () if h not in classifiers), None)
        if stranger is not None:
            raise PriorError(f"the prior names {stranger!r}, and no classifier does", fix="name the same ones")

        def likelihood(hypothesis: Any, datum: Any) -> Any:
            if not isinstance(datum, Sequence) or isinstance(datum, str) or len(datum) != 2:
                raise ParameterError(f"{datum!r} is not a pair of a case and its label", fix="observe (case, label)")
            case, label = datum
            refuse_unknown(label, known, "there is no label")
            return 1 - share if classifiers[hypothesis](case) == label else share / (len(known) - 1)

        return cls(list(classifiers) if prior is None else prior, likelihood, exact=exact)

    # -- data come ----------------------------------------------------------------------------------------------
    def observe(self, *data: Any) -> HypothesisSpace:
        """The space after these data, in this order; `ImpossibleEvidenceError` if no hypothesis allows them."""
        new = tuple(self._likelihoods(datum) for datum in data)
        alive, log_now = self._alive, self._log_now
        for k, step in enumerate(new):
            alive = alive & [value > 0 for value in step]
            log_now = log_now + _logs(step)
            if not alive.any():
                raise ImpossibleEvidenceError(
                    f"no hypothesis allows datum {len(self.data) + k} ({data[k]!r}) after those before it",
                    fix="allow for noise, or add the hypothesis that is missing",
                )
        after = replace(self, data=(*self.data, *data), steps=(*self.steps, *new))
        after.__dict__.update(_alive=alive, _log_now=log_now)  # so that a stream costs no more with its length
        return after

    @cached_property
    def _alive(self) -> BoolArray:
        """(n_hypotheses,) which of them neither the prior nor a datum rules out."""
        possible = [[value > 0 for value in row] for row in (self._prior_weight, *self.steps)]
        return np.asarray(np.all(possible, axis=0))

    @cached_property
    def _log_now(self) -> FloatArray:
        """(n_hypotheses,) log p(h) + log p(D | h)."""
        return np.asarray(self.log_joint[-1])

    def _likelihoods(self, datum: Any) -> tuple[Any, ...]:
        if isinstance(self.likelihood, Mapping):
            if not isinstance(datum, Hashable) or datum not in self.likelihood:
                known = ", ".join(map(repr, self.likelihood))
                raise ParameterError(f"there is no likelihood of {datum!r}", fix=f"observe one of {known}")
            row = self.likelihood[datum]
            missing = next((h for h in self.hypotheses if h not in row), None)
            if missing is not None:
                raise ParameterError(f"the likelihood of {datum!r} has no entry for {missing!r}", fix="add it")
            found = [row[h] for h in self.hypotheses]
        elif callable(self.likelihood):
            found = [self.likelihood(h, datum) for h in self.hypotheses]
        else:
            raise ParameterError(f"a likelihood cannot be a {type(self.likelihood).__name__}", fix=_LIKELIHOOD)
        pairs = zip(self.hypotheses, found, strict=True)
        return tuple(_amount(value, f"p({datum!r} | {h!r})", self.exact) for h, value in pairs)

    # -- posteriors ---------------------------------------------------------------------------------------------
    @cached_property
    def log_joint(self) -> FloatArray:
        """(n_data + 1, n_hypotheses) log p(h) + log p(first k data | h)."""
        return np.cumsum([_logs(row) for row in (self._prior_weight, *self.steps)], axis=0)

    @cached_property
    def log_likelihood(self) -> FloatArray:
        """(n_hypotheses,) log p(D | h)."""
        return np.asarray(sum(map(_logs, self.steps), np.zeros(len(self.hypotheses))))

    @property
    def log_evidence(self) -> float:
        """log p(D)."""
        return float(log_sum_exp(self._log_now))

    @property
    def evidence(self) -> Any:
        """p(D); a fraction where exact."""
        return sum(self._joint(len(self.data))) if self.exact else float(np.exp(self.log_evidence))

    @property
    def posterior(self) -> dict[Any, Any]:
        """p(h | D) by hypothesis; fractions where exact."""
        return dict(zip(self.hypotheses, self._shares(len(self.data)), strict=True))

    @property
    def history(self) -> list[dict[Any, Any]]:
        """The posterior before any datum, after the first, ..."""
        return [dict(zip(self.hypotheses, self._shares(k), strict=True)) for k in range(len(self.data) + 1)]

    @property
    def map(self) -> Any:
        """The most probable hypothesis; the first of several."""
        shares = self._shares(len(self.data)) if self.exact else self._log_now.tolist()
        return self.hypotheses[shares.index(max(shares))]

    @property
    def ml(self) -> Any:
        """The hypothesis under which the data are most probable, whatever the prior; the first of several."""
        if not self.exact:
            return self.hypotheses[int(np.argmax(self.log_likelihood))]
        products = [_product(row[k] for row in self.steps) for k in range(len(self.hypotheses))]
        return self.hypotheses[products.index(max(products))]

    @property
    def version_space(self) -> tuple[Any, ...]:
        """The hypotheses that no datum has ruled out."""
        return tuple(h for k, h in enumerate(self.hypotheses) if all(row[k] > 0 for row in self.steps))

    def _shares(self, n_data: int) -> list[Any]:
        if not self.exact:
            log_joint = self._log_now if n_data == len(self.data) else self.log_joint[n_data]
            shares: list[Any] = normalise(log_joint[None]).probability[0].tolist()
            return shares
        joint = self._joint(n_data)
        return [value / sum(joint) for value in joint]

    def _joint(self, n_data: int) -> list[Fraction]:
        rows = (self._prior_weight, *self.steps[:n_data])
        return [_product(row[k] for row in rows) for k in range(len(self.hypotheses))]

    # -- what follows -------------------------------------------------------------------------------------------
    def combine(self, answers: Answers) -> Combined:
        """What all hypotheses say together: `answers` is what each says, a label or {label: probability}.

        >>> posterior = {"h1": .4, "h2": .3, "h3": .3}
        >>> said = HypothesisSpace(posterior, {}).combine({"h1": "+", "h2": "-", "h3": "-"})
        >>> said.answer, said.by_map
        ('-', '+')
        """
        return combine(self.posterior, self.map, answers)

    def display(self) -> PosteriorDisplay:
        """The posterior as data arrive, one panel for each step."""
        from bayeswise.models.hypotheses.plots import PosteriorDisplay

        return PosteriorDisplay(self)

    def plot(self, ax: Any = None, *, steps: Chosen = None, most_panels: int = 3) -> PosteriorDisplay:
        """Draw the posterior as data arrive: chosen `steps`, "all" of them, or the prior, the last and some between."""
        from bayeswise.models.hypotheses.plots import PosteriorDisplay

        return PosteriorDisplay(self, steps=steps, most_panels=most_panels).plot(ax)

    def animate(self, path: str | os.PathLike[str], *, steps: Chosen = None, seconds: float = 0.8) -> Path:
        """Write a GIF of the posterior, datum by datum."""
        from bayeswise.models.hypotheses.plots import PosteriorDisplay

        return PosteriorDisplay(self, steps=steps).animate(path, seconds=seconds)

    def _repr_html_(self) -> str:
        from bayeswise.render.numbers import number
        from bayeswise.render.page import bar_table, fragment, label, share_bar

        history = self.history
        rows = [
            f'<tr><td>{label(h)}</td><td class="n">{number(float(history[0][h]))}</td>'
            f'<td>{share_bar(float(p))}</td><td class="n">{number(float(p))}</td></tr>'
            for h, p in list(self.posterior.items())[:_MOST_SHOWN]
        ]
        hidden = len(self.hypotheses) - len(rows)
        head = '<th>hypothesis</th><th class="n">prior</th><th></th><th class="n">posterior</th>'
        heading = f"<h3>Posterior after {len(self.data):,} {'datum' if len(self.data) == 1 else 'data'}</h3>"
        more = f"<p>and {hidden:,} more hypotheses</p>" if hidden > 0 else ""
        return fragment(heading, bar_table((30, 15, 40, 15), head, rows), more)

    def __repr__(self) -> str:
        believed = listed((f"{h}: {float(p):.4g}" for h, p in self.posterior.items()), 6)
        return f"HypothesisSpace({believed}; {len(self.data)} data)"


def _checked_prior(prior: Any, exact: bool) -> dict[Any, Any]:
    """By hypothesis, none below 0, the sum 1; equal shares where only hypotheses are given."""
    if not isinstance(prior, Mapping):
        prior = _equal_shares(prior, exact)
    if not prior:
        raise PriorError("there is no hypothesis", fix="give at least one")
    weights = {h: _amount(value, f"the prior of {h!r}", exact) for h, value in prior.items()}
    total = sum(weights.values()) if exact else math.fsum(weights.values())
    if (total != 1) if exact else abs(total - 1.0) > SUM_TOLERANCE:
        fix = "divide each entry by the sum" + (", or write fractions, as '1/3'" if exact else "")
        raise PriorError(f"the prior sums to {total}, not to 1", fix=fix)
    return weights


def _equal_shares(hypotheses: Any, exact: bool) -> dict[Any, Any]:
    try:
        names = dict.fromkeys(hypotheses)
    except TypeError as error:
        raise PriorError(f"a prior has hypotheses that can be looked up: {error}", fix="name them by text") from None
    return dict.fromkeys(names, Fraction(1, max(len(names), 1)) if exact else 1.0 / max(len(names), 1))


def _amount(value: Any, what: str, exact: bool) -> Any:
    """A number from 0 on: a fraction where exact, else a float."""
    number = _number(value, what, exact)
    if not (number >= 0 and (exact or math.isfinite(number))):
        raise ParameterError(f"{what} must be a number from 0 on; found {value!r}", fix="give a probability")
    return number


def _number(value: Any, what: str, exact: bool) -> Any:
    if exact:
        return exact_number(value, what)
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ParameterError(f"{what} must be a number; found {value!r}", fix="give a probability") from None


def _logs(weights: Sequence[Any]) -> FloatArray:
    if isinstance(weights[0], Fraction):
        return np.array([_log_of_fraction(weight) for weight in weights])
    return log(weights)


def _log_of_fraction(weight: Fraction) -> float:
    """Of any size: a fraction may lie where there is no float."""
    if weight == 0:
        return -math.inf
    if 1e-300 < weight < 1e300:
        return math.log(weight)
    return math.log(weight.numerator) - math.log(weight.denominator)


def _product(factors: Iterable[Fraction]) -> Fraction:
    return math.prod(factors, start=Fraction(1))
