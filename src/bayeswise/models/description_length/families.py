"""The bits of one column of values under one family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import DataError, ParameterError
from bayeswise.models.description_length.bits import Code, DescriptionLength, Part, counted_bits, parameter_bits
from bayeswise.models.description_length.multinomial import LOG_TWO
from bayeswise.models.naive_bayes.selection import choice
from bayeswise.tables.labels import Vocabulary


@dataclass(frozen=True)
class CodedFamily:
    """A family and the values that it describes; bits of a density may be below zero, only differences mean anything.

    evidence   parameters integrated out, after one imagined row like the whole column
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
