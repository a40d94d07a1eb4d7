"""The normal-inverse-Wishart prior of the mean and the covariance of vectors."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from bayeswise.families.arithmetic.covariance import Factor, singular_reason, standardised
from bayeswise.families.protocol import is_positive, one_line, refuse_unless
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.earlier_names import earlier_fields
from bayeswise.foundation.errors import ParameterError
from bayeswise.store.fields import stored_field


@earlier_fields(freedom="df")
@dataclass(frozen=True, repr=False)
class NormalInverseWishart:
    """covariance ~ InverseWishart(df, scale), mean | covariance ~ Normal(mean, covariance / strength).

    It is what `strength` pseudo-counts with mean `mean`, and `df` rows with sum of products of deviations `scale`
    would have taught. All fields have a first axis of groups, which may be left out.

    >>> NormalInverseWishart(mean=np.zeros(2), strength=1, df=4, scale=np.eye(2))
    NormalInverseWishart(strength=1, df=4, mean=[0, 0])
    """

    mean: FloatArray  # (n_groups, n_columns)
    strength: FloatArray | float  # (n_groups,)
    df: FloatArray | float = field(metadata=stored_field({}, "freedom"))  # (n_groups,), above n_columns - 1
    scale: FloatArray  # (n_groups, n_columns, n_columns), of full rank
    mean_low: FloatArray | float = field(default=0.0, repr=False)  # its digits beyond the 53 bits of a float

    def __post_init__(self) -> None:
        mean, scale = np.atleast_2d(np.asarray(self.mean, float)), np.asarray(self.scale, float)
        fields = {
            "mean": mean,
            "strength": np.atleast_1d(np.asarray(self.strength, float)),
            "df": np.atleast_1d(np.asarray(self.df, float)),
            "scale": scale[None] if scale.ndim == 2 else scale,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)
        self._refuse_impossible(fields)

    def _refuse_impossible(self, fields: dict[str, FloatArray]) -> None:
        n_columns = self.n_columns
        dimensions = {name: value.ndim for name, value in fields.items()}
        sizes = {len(value) for value in fields.values() if value.ndim} - {1}
        if dimensions != {"mean": 2, "strength": 1, "df": 1, "scale": 3} or len(sizes) > 1 or 0 in sizes:
            raise ParameterError(
                "a prior has mean, strength, df and scale for each group",
                fix="give vectors for several groups, or numbers for one",
            )
        low, mean = np.shape(self.mean_low), fields["mean"].shape
        if low not in ((), mean[1:], (1, *mean[1:]), mean) or not np.isfinite(self.mean_low).all():
            raise ParameterError("the low digits of the mean of a prior do not match the mean")
        if fields["scale"].shape[-2:] != (n_columns, n_columns):
            raise ParameterError(f"a mean of {n_columns} columns needs a scale of as many rows and columns")
        refuse_unless(np.isfinite(fields["mean"]), "mean of a prior must be finite", fields["mean"])
        refuse_unless(is_positive(fields["strength"]), "strength of a prior must be above 0", fields["strength"])
        enough = np.isfinite(fields["df"]) & (fields["df"] > n_columns - 1)
        refuse_unless(enough, f"df must be above {n_columns - 1} for {n_columns} columns", fields["df"])
        for stddev, correlation in zip(*standardised(fields["scale"]), strict=True):
            reason = singular_reason(stddev, correlation)
            if reason:
                raise ParameterError(f"the scale of a prior needs full rank; {reason}")

    @property
    def n_columns(self) -> int:
        return int(np.shape(self.mean)[-1])

    def factors(self) -> list[Factor]:
        """The Cholesky factor of the scale of each group."""
        return [Factor.of(*pair) for pair in zip(*standardised(self.scale), strict=True)]

    def over(self, n_groups: int) -> NormalInverseWishart:
        """The same prior for each of several groups."""
        d = self.n_columns
        return NormalInverseWishart(
            np.broadcast_to(self.mean, (n_groups, d)),
            np.broadcast_to(self.strength, n_groups),
            np.broadcast_to(self.df, n_groups),
            np.broadcast_to(self.scale, (n_groups, d, d)),
            np.broadcast_to(self.mean_low, (n_groups, d)),
        )

    def __repr__(self) -> str:
        parts = {name: getattr(self, name) for name in ("strength", "df", "mean")}
        return one_line("NormalInverseWishart", parts)
