"""How many bits a model and the rows under it take: L(h) + L(D | h), part by part, and the model of fewest bits.

evidence   -log2 p(D), parameters integrated out: one code for both, which no two-part code of the same prior beats
two-part   half log2 n bits for each free parameter (BIC), then the rows under maximum likelihood
nml        for categories: maximum likelihood, and the regret that makes it a code

Only for codes of length -log2 P is the shortest description the most probable one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np

from bayeswise.families.continuous.normal import LOG_TWO_PI
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import DataError, ParameterError
from bayeswise.models.averaged_naive_bayes.evidence import evidence_of, model_of, refuse_other_rows
from bayeswise.models.averaged_naive_bayes.model import AveragedNaiveBayesModel
from bayeswise.models.description_length.bits import (
    CODES,
    LOG_TWO,
    Code,
    DescriptionLength,
    Part,
    counted_bits,
    parameter_bits,
)
from bayeswise.models.naive_bayes.categories import Categories, CategoryTable
from bayeswise.models.naive_bayes.choices import choice
from bayeswise.models.naive_bayes.model import NaiveBayesModel
from bayeswise.models.naive_bayes.normal_columns import Numbers
from bayeswise.render.labels import refuse_unknown
from bayeswise.statistics.numbers.scatter import PairSums
from bayeswise.tables.schema.labels import Vocabulary

_MOST_SHOWN = 8


@runtime_checkable
class Coded(Protocol):
    """What knows its own description length: a coded family, a coded network, a tree."""

    def description_length(self, code: Code) -> DescriptionLength:
        """L(h) + L(D | h)."""


def description_length(model: Any, code: Code = "evidence") -> DescriptionLength:
    """The bits of a fitted naive Bayes model and of the rows it has learned, from its statistics alone.

    A coded family (`CodedFamily`), a network (`bayeswise.networks.description_length.coded`) and a tree
    (`bw.DescriptionLengthTree`) know their own.

    >>> from bayeswise.models.naive_bayes import fit
    >>> rows = 8 * [{"wind": "weak", "play": "yes"}, {"wind": "strong", "play": "no"}]
    >>> description_length(fit(rows, "play"), "nml")
    DescriptionLength(22.7 bits by nml; play: 18.5, wind: 4.2)
    """
    inner = model_of(model)
    refuse_unknown(code, CODES, "there is no code")
    if isinstance(inner, Coded):
        return inner.description_length(code)
    if not isinstance(inner, NaiveBayesModel):
        raise ParameterError(
            f"the description length of {type(inner).__name__} is not known",
            fix="give a fitted naive Bayes or tree, a family, or a network with its rows: coded(network, table)",
        )
    if code == "evidence":
        evidence = evidence_of(inner)
        pairs = [(inner.schema.target_name, evidence.log_target)]
        pairs += [(column.column, evidence.log_of(k)) for k, column in enumerate(evidence.columns)]
        return DescriptionLength(code, tuple(Part(name, 0.0, -log_p / LOG_TWO) for name, log_p in pairs))
    if isinstance(inner, AveragedNaiveBayesModel):
        raise ParameterError(f"an average over structures has no {code} code", fix='choose "evidence"')
    table = counted_bits(inner.class_weight[None], code)
    parts = [Part(inner.schema.target_name, *table)]
    for factor in (each for each in inner.factors if each.columns):
        parts += _factor_parts(inner, factor, code)
    order = {name: k for k, name in enumerate((inner.schema.target_name, *inner.schema.used))}
    return DescriptionLength(code, tuple(sorted(parts, key=lambda part: order[part.name])))


def _factor_parts(model: NaiveBayesModel, factor: Any, code: Code) -> list[Part]:
    statistic = model.statistics.part[factor.name]
    if isinstance(factor, Categories):
        tables = [CategoryTable.of(statistic[name], model.settings, model.schema[name]) for name in factor.columns]
        return [Part(table.column.name, *counted_bits(table.count, code)) for table in tables]
    if isinstance(factor, Numbers) and code == "two-part":
        return _normal_parts(factor, statistic)
    raise ParameterError(
        f"columns {', '.join(map(repr, factor.columns))} ({factor.name}) have no {code} code",
        fix='choose "evidence", or take them as categories',
    )


def _normal_parts(factor: Numbers, statistic: Any) -> list[Part]:
    """-n/2 log2(2 pi e variance); bits of a density may be below zero, and only differences mean anything."""
    statistic = statistic.moments if isinstance(statistic, PairSums) else statistic
    n, stddev = statistic.weight.to_floats(), statistic.stddev("n", empty=0.0)
    constant = (n > 0) & (stddev == 0) & (statistic.pooled().stddev("n", empty=0.0) > 0)
    if constant.any():
        column = factor.columns[int(np.argwhere(constant)[0][1])]
        raise ParameterError(
            f"column {column!r} is constant in one class: its likelihood has no maximum", fix='choose "evidence"'
        )
    unit = np.where(stddev > 0, stddev, 1.0)
    log_p = np.where(stddev > 0, -n * (0.5 * (LOG_TWO_PI + 1.0) + np.log(unit)), 0.0).sum(axis=0)
    rows = n.sum(axis=0)
    return [
        Part(name, parameter_bits(2 * len(n), float(rows[c])), -float(log_p[c]) / LOG_TWO)
        for c, name in enumerate(factor.columns)
    ]


@dataclass(frozen=True)
class Selected:
    """The models by their bits, fewest first, and what each part of them costs."""

    lengths: Mapping[str, DescriptionLength]
    models: Mapping[str, Any]

    @property
    def best(self) -> str:
        """The name of the model of fewest bits."""
        return next(iter(self.lengths))

    @property
    def model(self) -> Any:
        """The model of fewest bits."""
        return self.models[self.best]

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {_shown(length)}" for name, length in self.lengths.items())


def _shown(length: DescriptionLength) -> str:
    """The sum, and its largest parts; the bits of a model apart from those of rows where the code knows them."""
    largest = sorted(length.parts, key=lambda part: -abs(part.bits))[:_MOST_SHOWN]
    parts = [f"{part.name} {_sum_of(part)}" for part in length.parts if part in largest]
    more = f", {len(length.parts) - _MOST_SHOWN} more" if len(length.parts) > _MOST_SHOWN else ""
    return f"{length.bits:.1f} bits ({', '.join(parts)}{more})"


def _sum_of(part: Part) -> str:
    """Both parts of a code where there are two."""
    return " + ".join(f"{bits:.1f}" for bits in (part.model_bits, part.data_bits) if bits) or "0.0"


def select(models: Mapping[str, Any] | Sequence[Any], table: Any = None, *, code: Code = "evidence") -> Selected:
    """The model under which the rows have the shortest description: no rows are held out.

    Models are fitted ones of the same rows and columns, or functions that fit the table; or families, and then the
    table is one column of values.

    >>> from bayeswise.models.averaged_naive_bayes import fit_averaged
    >>> rows = 8 * [{"wind": w, "play": p} for w in ("weak", "strong") for p in ("yes", "no")]
    >>> select({"relevant": lambda t: fit_averaged(t, "play", relevance=1.0),
    ...         "irrelevant": lambda t: fit_averaged(t, "play", relevance=0.0)}, rows)
    irrelevant: 68.4 bits (play 34.2, wind 34.2)
    relevant: 69.7 bits (play 34.2, wind 35.5)
    >>> from bayeswise import families
    >>> select({"poisson": families.Poisson(), "geometric": families.Geometric()}, [3, 4, 2, 3, 5, 3, 2, 4])
    poisson: 20.7 bits (poisson 20.7)
    geometric: 29.8 bits (geometric 29.8)
    """
    named = dict(models) if isinstance(models, Mapping) else {f"model {k}": m for k, m in enumerate(models)}
    if not named:
        raise ParameterError("there is no model to choose from", fix="give at least one")
    fitted = {name: _fitted(model, table) for name, model in named.items()}
    refuse_other_rows({name: model_of(model) for name, model in fitted.items()})
    lengths = {name: description_length(model, code) for name, model in fitted.items()}
    ranked = sorted(lengths, key=lambda name: lengths[name].bits)
    return Selected({name: lengths[name] for name in ranked}, fitted)


def _fitted(model: Any, table: Any) -> Any:
    is_family = hasattr(model, "log_density")
    if not (is_family or callable(model)):
        return model
    if table is None:
        raise ParameterError("a function that fits, or a family, needs a table", fix="give select(models, table)")
    return coded_family(model, table) if is_family else model(table)


@dataclass(frozen=True)
class CodedFamily:
    """A family and the values that it describes; bits of a density may be below zero, only differences mean anything.

    evidence   parameters integrated out, after one pseudo-row like the whole column
    two-part   half log2 n bits for each free parameter, then the values under maximum likelihood
    nml        categories and flags only

    >>> from bayeswise import families
    >>> coded_family(families.Bernoulli(), [1, 1, 0, 1]).description_length("two-part")
    DescriptionLength(4.2 bits by two-part; bernoulli: 4.2)
    """

    family: Any
    values: FloatArray  # (n_rows, 1), or counts of levels (1, n_levels) of a categorical column
    count: FloatArray | None = None

    def description_length(self, code: Code = "evidence") -> DescriptionLength:
        """L(h) + L(D | h)."""
        return DescriptionLength(code, (Part(str(self.family.name), *self._bits(code)),))

    def _bits(self, code: Code) -> tuple[float, float]:
        if self.count is not None:
            return counted_bits(self.count, code)
        if code == "two-part":
            return self._two_part()
        if code == "nml":
            if self.family.name == "bernoulli":
                ones = float(self.values.sum())
                return counted_bits(np.array([[len(self.values) - ones, ones]]), code)
            raise ParameterError(f"the family {self.family.name!r} has no nml code", fix='choose "two-part"')
        return 0.0, -self._log_evidence() / LOG_TWO

    def _two_part(self) -> tuple[float, float]:
        estimate = self.family.estimate(self.family.statistic(self.values))
        log_p = np.asarray(self.family.log_density(estimate.parameters, self.values))
        if not (estimate.exists.all() and np.isfinite(log_p).all()):
            raise ParameterError(
                f"the likelihood of these values has no maximum under {self.family.name!r}", fix='choose "evidence"'
            )
        return parameter_bits(self.family.n_free_parameters(), len(self.values)), -float(log_p.sum()) / LOG_TWO

    def _log_evidence(self) -> float:
        try:
            found = choice("values", {self.family: self.family.statistic(self.values)})
        except (AttributeError, TypeError):
            raise ParameterError(
                f"the family {self.family.name!r} has no evidence in closed form", fix='choose "two-part"'
            ) from None
        return found.log_evidence[self.family.name]


def coded_family(family: Any, values: Any) -> CodedFamily:
    """The family with one column of values; missing ones are left out."""
    if family.name in ("multinomial", "multivariate normal"):
        raise ParameterError(
            f"the family {family.name!r} describes several columns at once", fix="choose one of a single column"
        )
    if family.name == "categorical":
        labels = [label for label in values if label is not None and label == label]
        levels = Vocabulary.of(labels)
        count = np.bincount(levels.encode(labels), minlength=len(levels)).astype(np.float64)
        return CodedFamily(family, np.zeros((0, 1)), count[None])
    try:
        numbers = np.asarray(values, dtype=np.float64).reshape(-1, 1)
    except (TypeError, ValueError):
        raise DataError(
            f"the family {family.name!r} describes numbers", fix="give one column of them, or families.Categorical()"
        ) from None
    return CodedFamily(family, numbers[~np.isnan(numbers[:, 0])])
