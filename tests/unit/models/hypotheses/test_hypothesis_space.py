"""Hypothesis spaces: laws of belief, errors, and their picture."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayeswise as bw

shares = st.lists(st.integers(1, 9), min_size=2, max_size=5)


def coins(weights: list[int], *, exact: bool) -> bw.HypothesisSpace:
    total = sum(weights)
    prior = {k: Fraction(w, total) if exact else w / total for k, w in enumerate(weights)}
    bias = {k: Fraction(k + 1, len(weights) + 1) for k in prior}
    likelihood = {"H": bias, "T": {k: 1 - p for k, p in bias.items()}}
    return bw.HypothesisSpace(prior, likelihood, exact=exact)


@given(shares, st.lists(st.sampled_from("HT"), max_size=30))
def test_floats_agree_with_fractions(weights: list[int], tosses: list[str]) -> None:
    soft, exact = (coins(weights, exact=mode).observe(*tosses) for mode in (False, True))
    for h, p in exact.posterior.items():
        assert soft.posterior[h] == pytest.approx(float(p), rel=1e-12)
    assert np.exp(soft.log_evidence) == pytest.approx(float(exact.evidence), rel=1e-12)


@given(shares, st.lists(st.sampled_from("HT"), max_size=12), st.randoms())
def test_the_order_and_the_batches_of_data_do_not_matter(weights: list[int], tosses: list[str], random: object) -> None:
    at_once = coins(weights, exact=True).observe(*tosses)
    random.shuffle(tosses)  # type: ignore[attr-defined]
    one_by_one = coins(weights, exact=True)
    for toss in tosses:
        one_by_one = one_by_one.observe(toss)
    assert at_once.posterior == one_by_one.posterior


def test_ten_thousand_data_do_not_underflow() -> None:
    space = coins([1, 1, 1], exact=False).observe(*(["H", "T"] * 5000))
    assert space.map == 1
    assert space.posterior[1] == pytest.approx(1.0)
    assert np.isfinite(space.log_evidence)


def test_gibbs_draws_hypotheses_as_often_as_they_are_believed() -> None:
    said = bw.HypothesisSpace({"h1": 0.4, "h2": 0.6}, {}).combine({"h1": "+", "h2": "-"})
    generator = np.random.default_rng(1)
    drawn = [said.by_gibbs(generator) for _ in range(4000)]
    assert drawn.count("+") / 4000 == pytest.approx(0.4, abs=0.03)


def test_the_error_of_gibbs_is_at_most_twice_that_of_the_average() -> None:
    weights = np.random.default_rng(0).dirichlet(np.ones(6), size=200)
    for prior in weights:
        said = bw.HypothesisSpace(dict(enumerate(prior)), {}).combine({k: "+-"[k % 2] for k in range(6)})
        p = said.probability["+"]
        assert 2 * p * (1 - p) <= 2 * min(p, 1 - p)


@pytest.mark.parametrize("prior", [{}, {"a": 0.5, "b": 0.6}, {"a": -0.5, "b": 1.5}, {"a": float("nan"), "b": 1.0}])
def test_what_is_not_a_prior_is_refused(prior: dict[str, float]) -> None:
    with pytest.raises(bw.UsageError):
        bw.HypothesisSpace(prior, {})


def test_unknown_data_and_silent_hypotheses_are_named() -> None:
    space = bw.HypothesisSpace(["a", "b"], {"x": {"a": 1.0}})
    with pytest.raises(bw.UsageError, match="no likelihood of 'z'"):
        space.observe("z")
    with pytest.raises(bw.UsageError, match="no entry for 'b'"):
        space.observe("x")
    with pytest.raises(bw.UsageError, match="'b' says nothing"):
        space.combine({"a": "+"})


def test_the_display_draws_prior_middle_and_end() -> None:
    import matplotlib

    matplotlib.use("Agg")
    display = coins([1, 2, 3], exact=False).observe(*"HHTH").display().plot()
    assert display.steps() == [0, 2, 4]
    assert len(display.ax_.child_axes) == 3


TWO = {"a": 0.5, "b": 0.5}
STEPS = {k: (lambda x, k=k: x >= k) for k in range(3)}


@pytest.mark.parametrize(
    "make",
    [
        lambda: bw.HypothesisSpace({"a": "x", "b": 1}, {}),
        lambda: bw.HypothesisSpace({"a": None, "b": 1}, {}),
        lambda: bw.HypothesisSpace(3, {}),
        lambda: bw.HypothesisSpace([["a"], ["b"]], {}),
        lambda: bw.HypothesisSpace(TWO, None).observe("x"),
        lambda: bw.HypothesisSpace(TWO, {"x": {"a": "?", "b": 1}}).observe("x"),
        lambda: bw.HypothesisSpace(TWO, {"x": {"a": 1, "b": 1}}).observe(["x"]),
        lambda: bw.HypothesisSpace.of_classifiers(STEPS, noise="some"),
        lambda: bw.HypothesisSpace.of_classifiers(STEPS).observe(3),
        lambda: bw.HypothesisSpace.of_classifiers(STEPS, prior={0: 0.5, 7: 0.5}),
        lambda: bw.HypothesisSpace(TWO, {}).combine({"a": {"+": "x"}, "b": "-"}),
        lambda: bw.HypothesisSpace(TWO, {}).combine({"a": {"+": float("nan"), "-": 1}, "b": "-"}),
        lambda: bw.HypothesisSpace(TWO, {}).combine({"a": ["+"], "b": "-"}),
    ],
)
def test_what_is_not_a_space_datum_or_answer_is_refused_with_a_fix(make: Callable[[], object]) -> None:
    with pytest.raises(bw.UsageError, match="Fix: "):
        make()


def test_a_stream_of_data_takes_the_same_time_for_each_and_remembers_all_of_them() -> None:
    counted = 0

    def likelihood(bias: float, toss: bool) -> float:
        nonlocal counted
        counted += 1
        return bias if toss else 1.0 - bias

    space = bw.HypothesisSpace([0.25, 0.5, 0.75], likelihood)
    for k in range(300):
        space = space.observe(k % 3 > 0)
    assert counted == 3 * 300
    assert "log_joint" not in space.__dict__  # what is believed now needs no look back
    assert space.posterior == bw.HypothesisSpace([0.25, 0.5, 0.75], likelihood).observe(*space.data).posterior
    assert space.history[-1] == space.posterior


def test_fractions_beyond_all_floats_have_a_logarithm() -> None:
    space = bw.HypothesisSpace(["a", "b"], {"x": {"a": "1e-400", "b": "3e-400"}}, exact=True).observe("x")
    assert space.posterior == {"a": Fraction(1, 4), "b": Fraction(3, 4)}
    assert space.log_evidence == pytest.approx(np.log(2.0) - 400 * np.log(10.0), rel=1e-14)
