"""Laws of conjugate families: rows may come in parts, and the evidence is a chain of predictions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeswise.families import (
    Bernoulli,
    BetaPrior,
    Binomial,
    Categorical,
    Dirichlet,
    Exponential,
    Gamma,
    GammaPrior,
    Geometric,
    LogNormal,
    Multinomial,
    MultivariateNormal,
    Normal,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
)
from bayeswise.tables.schema.labels import Vocabulary

COLOURS = Vocabulary(["blue", "green", "red"])
N_GROUPS = 2
positive = st.floats(1e-3, 1e3)


@dataclass(frozen=True)
class Case:
    """A family, where its values come from, and its priors."""

    family: Any
    row: st.SearchStrategy[Any]
    prior: st.SearchStrategy[Any]
    summarise: Callable[..., Any]
    as_values: Callable[[list[Any]], Any] = lambda rows: np.array(rows, dtype=np.float64).reshape(-1, 1)


def number_case(family: Any, value: st.SearchStrategy[float], prior: st.SearchStrategy[Any]) -> Case:
    return Case(family, value, prior, family.statistic)


def count_colours(codes: Any, groups: Any, n_groups: int, weights: Any = None) -> Any:
    return Categorical().statistic(codes, COLOURS, groups, n_groups, weights, declared=COLOURS)


def count_words(counts: Any, groups: Any, n_groups: int, weights: Any = None) -> Any:
    return Multinomial().statistic(counts, COLOURS, groups, n_groups, weights, declared=COLOURS)


counts = st.integers(0, 1000).map(float)
real = st.floats(-100.0, 100.0)
dirichlets = st.lists(positive, min_size=3, max_size=3).map(lambda weights: Dirichlet(COLOURS, np.array(weights)))
CASES = [
    number_case(Binomial(trials=12), st.integers(0, 12).map(float), st.builds(BetaPrior, positive, positive)),
    number_case(Gamma(shape=0.5), positive, st.builds(GammaPrior, positive, positive)),
    number_case(Gamma(shape=25.0), positive, st.builds(GammaPrior, positive, positive)),
    number_case(LogNormal(), positive, st.builds(NormalInverseGamma, real, positive, positive, positive)),
    Case(
        Multinomial(),
        st.lists(st.integers(0, 9), min_size=3, max_size=3),
        dirichlets,
        count_words,
        lambda rows: np.array(rows, dtype=np.float64).reshape(-1, 3),
    ),
    number_case(Bernoulli(), st.sampled_from([0.0, 1.0]), st.builds(BetaPrior, positive, positive)),
    number_case(Geometric(), counts, st.builds(BetaPrior, positive, positive)),
    number_case(Poisson(), counts, st.builds(GammaPrior, positive, positive)),
    number_case(Exponential(), st.floats(0.0, 1e3), st.builds(GammaPrior, positive, positive)),
    number_case(Normal(), real, st.builds(NormalInverseGamma, real, positive, positive, positive)),
    Case(
        Categorical(),
        st.integers(0, 2),
        dirichlets,
        count_colours,
        lambda rows: np.array(rows, dtype=np.int32),
    ),
    Case(
        MultivariateNormal(),
        st.tuples(real, real),
        st.builds(
            lambda mean, strength, extra, size: NormalInverseWishart(
                np.array(mean), strength, 1.0 + extra, size * np.array([[2.0, 0.5], [0.5, 1.0]])
            ),
            st.tuples(real, real),
            positive,
            positive,
            positive,
        ),
        MultivariateNormal().statistic,
        lambda rows: np.array(rows, dtype=np.float64).reshape(-1, 2),
    ),
]
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.family.name)


def rounding_of(belief: Any) -> float:
    """What a belief loses by being kept in doubles: a matrix whose directions differ by 1e6 has ten digits in one."""
    if not isinstance(belief, NormalInverseWishart):
        return 0.0
    return float(np.finfo(float).eps * np.max(belief.df) * np.max(np.linalg.cond(belief.scale)))


def numbers_of(prior: Any) -> dict[str, Any]:
    """The numeric fields of a prior; a mean comes with its low digits."""
    found = {field.name: getattr(prior, field.name) for field in fields(prior) if field.name != "levels"}
    if "mean_low" in found:
        found["mean"] = found["mean"] + found.pop("mean_low")
    return found


@each_case
def test_posterior_after_one_part_then_the_other_is_that_of_both(case: Case) -> None:
    @settings(max_examples=60)
    @given(first=st.lists(case.row, max_size=6), second=st.lists(case.row, max_size=6), prior=case.prior)
    def law(first: list[Any], second: list[Any], prior: Any) -> None:
        one, other = (
            case.summarise(case.as_values(rows), np.arange(len(rows), dtype=np.int32) % N_GROUPS, N_GROUPS)
            for rows in (first, second)
        )
        in_turn = numbers_of(case.family.posterior(other, case.family.posterior(one, prior)))
        for name, value in numbers_of(case.family.posterior(one.merge(other), prior)).items():
            np.testing.assert_allclose(in_turn[name], value, rtol=1e-12, atol=1e-11)

    law()


@each_case
def test_the_evidence_of_all_rows_is_a_chain_of_predictions(case: Case) -> None:
    @settings(max_examples=60)
    @given(rows=st.lists(case.row, max_size=6), prior=case.prior)
    def law(rows: list[Any], prior: Any) -> None:
        log_chain, belief = 0.0, prior
        lost = rounding_of(belief)
        for row in rows:
            values = case.as_values([row])
            log_chain += float(np.squeeze(case.family.log_predictive(belief, values)))
            belief = case.family.posterior(case.summarise(values, None, 1), belief)
            lost += rounding_of(belief)
        statistic = case.summarise(case.as_values(rows), None, 1)
        log_evidence = float(np.squeeze(case.family.log_marginal(statistic, prior)))
        np.testing.assert_allclose(log_evidence, log_chain, rtol=1e-11, atol=1e-11 + lost)

    law()


@each_case
def test_the_evidence_of_two_parts_is_a_chain_as_well(case: Case) -> None:
    @settings(max_examples=60)
    @given(first=st.lists(case.row, max_size=6), second=st.lists(case.row, max_size=6), prior=case.prior)
    def law(first: list[Any], second: list[Any], prior: Any) -> None:
        one, other = (case.summarise(case.as_values(rows), None, 1) for rows in (first, second))
        middle = case.family.posterior(one, prior)
        in_turn = case.family.log_marginal(one, prior) + case.family.log_marginal(other, middle)
        at_once = case.family.log_marginal(one.merge(other), prior)
        beliefs = (prior, case.family.posterior(other, prior), middle, case.family.posterior(other, middle))
        np.testing.assert_allclose(at_once, in_turn, rtol=1e-11, atol=1e-11 + sum(map(rounding_of, beliefs)))

    law()


@each_case
def test_a_posterior_is_a_prior_again_and_its_predictions_are_finite(case: Case) -> None:
    @settings(max_examples=30)
    @given(rows=st.lists(case.row, max_size=4), prior=case.prior)
    def law(rows: list[Any], prior: Any) -> None:
        after = case.family.posterior(case.summarise(case.as_values(rows), None, 1), prior)
        assert type(after) is type(prior)
        log_p = case.family.log_predictive(after, case.as_values(rows))
        assert np.isfinite(log_p).all()

    law()


@each_case
def test_a_weight_of_two_is_the_row_twice(case: Case) -> None:
    @settings(max_examples=30)
    @given(rows=st.lists(case.row, min_size=1, max_size=4), prior=case.prior)
    def law(rows: list[Any], prior: Any) -> None:
        weights = np.full(len(rows), 2.0)
        weighted = case.summarise(case.as_values(rows), None, 1, weights)
        repeated = case.summarise(case.as_values(rows + rows), None, 1)
        one, other = (numbers_of(case.family.posterior(part, prior)) for part in (weighted, repeated))
        for name, value in one.items():
            np.testing.assert_array_equal(other[name], value)

    law()
