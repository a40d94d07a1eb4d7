"""Estimates with error bars, and the choice between exact and sampled ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import TooLargeError
from bayeswise.networks.arguments import seed_of
from bayeswise.networks.node import Evidence, Soft
from bayeswise.render.labels import refuse_unknown
from bayeswise.tables.schema.labels import Label

if TYPE_CHECKING:
    from bayeswise.networks.network import BeliefNetwork

METHODS = ("auto", "exact", "importance", "likelihood-weighting", "gibbs", "loopy")


@dataclass(frozen=True)
class Estimate:
    """Probabilities by state with standard errors; `effective_rows` is the effective sample size.

    Gibbs chains have no `log_evidence`, and an `r_hat`: above about 1.05 they have not converged. Loopy propagation has
    no error bar: its standard errors are NaN, or 0 where it is exact. `notes` are warnings.
    """

    node: str
    probability: dict[Label, float]
    standard_error: dict[Label, float]
    log_evidence: float | None
    effective_rows: float
    method: str = "likelihood-weighting"
    r_hat: float | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        node: str,
        labels: Sequence[Label],
        probability: FloatArray,
        error: FloatArray,
        *,
        method: str,
        log_evidence: float | None = None,
        effective_rows: float = math.inf,
        r_hat: float | None = None,
        notes: tuple[str, ...] = (),
    ) -> Estimate:
        """From arrays over the states."""
        by_state = dict(zip(labels, probability.tolist(), strict=True))
        errors = dict(zip(labels, error.tolist(), strict=True))
        return cls(node, by_state, errors, log_evidence, effective_rows, method, r_hat, notes)

    def __repr__(self) -> str:
        pairs = zip(self.probability.items(), self.standard_error.values(), strict=True)
        shown = ", ".join(f"{state} {p:.4g} +- {error:.2g}" for (state, p), error in pairs)
        return f"Estimate({self.node}: {shown}; {'; '.join((self.worth, *self.notes))})"

    @property
    def worth(self) -> str:
        """The method and the effective rows, as text."""
        if self.method == "loopy":
            return "loopy, error unknown" if any(self.standard_error.values()) else "loopy, exact here"
        return "exact" if self.method == "exact" else f"{self.method}, worth {self.effective_rows:,.0f} rows"


def answer(
    network: BeliefNetwork,
    node: str,
    evidence: Evidence | None = None,
    soft: Soft | None = None,
    *,
    method: str = "auto",
    n_rows: int = 100_000,
    seed: int = 0,
) -> Estimate:
    """P(node | evidence) by any method; "auto" is exact where memory allows, else importance sampling."""
    refuse_unknown(method, METHODS, "there is no method")
    seed_of(seed)
    if method in ("auto", "exact"):
        try:
            return _exact(network, node, evidence, soft)
        except TooLargeError:
            if method == "exact":
                raise
    if method == "gibbs":
        from bayeswise.networks.inference.gibbs import gibbs

        return gibbs(network, node, evidence, soft, n_rows, seed)
    if method == "loopy":
        from bayeswise.networks.inference.propagation import propagate

        return propagate(network, node, evidence, soft)
    from bayeswise.networks.inference.sampling import estimate

    return estimate(network, node, evidence, soft, n_rows, seed, adapted=method != "likelihood-weighting")


def _exact(network: BeliefNetwork, node: str, evidence: Evidence | None, soft: Soft | None) -> Estimate:
    answer = network.query(node, evidence, soft=soft)
    return Estimate(node, dict(answer), dict.fromkeys(answer, 0.0), answer.log_evidence, math.inf, "exact")
