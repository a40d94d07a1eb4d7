"""Accounts as data."""

from __future__ import annotations

import json
import math
import sys
from fractions import Fraction

import numpy as np
import pandas
import polars
import pytest
from cases import NEVER, golf, random_account

from bayeswise.explanations import Account, Contribution
from bayeswise.explanations.account import CalibratedAccount
from bayeswise.explanations.balance import AT_THE_MEANS
from bayeswise.explanations.plots import WaterfallDisplay
from bayeswise.foundation.errors import ImpossibleEvidenceError, ParameterError
from bayeswise.posteriors.calibration_maps import AsItIs


def test_the_account_of_golf_is_the_lecture_by_hand() -> None:
    account = golf()
    assert account.posterior == pytest.approx([125 / 611, 486 / 611], rel=1e-14)
    assert account.most_probable == "no"
    assert account.log_odds("no") == pytest.approx(math.log(486 / 125), rel=1e-14)


def test_the_log_joint_is_rounded_once() -> None:
    ones = tuple(Contribution(f"c{k}", k, np.array([-0.1, -0.3])) for k in range(10_000))
    account = Account(("a", "b"), np.array([-1e10, -1e10]), ones)
    exact = Fraction(-1e10) + 10_000 * Fraction(-0.1)
    assert account.log_joint[0] == float(exact)


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_a_broken_likelihood_names_its_column(broken: float) -> None:
    with pytest.raises(ParameterError, match="log-likelihood of column 'wind' must be numbers or -inf"):
        Contribution("wind", "weak", np.array([0.0, broken]))


def test_a_likelihood_for_another_number_of_states_names_its_column() -> None:
    with pytest.raises(ParameterError, match=r"'wind' has the shape .*2 states"):
        Account(("a", "b"), np.zeros(2), (Contribution("wind", "weak", np.zeros(3)),))


def test_a_column_contributes_once() -> None:
    twice = (Contribution("wind", "weak", np.zeros(2)), Contribution("wind", "strong", np.zeros(2)))
    with pytest.raises(ParameterError, match="'wind' contributes twice"):
        Account(("a", "b"), np.zeros(2), twice)


def test_arrays_are_copied_and_cannot_be_changed() -> None:
    given = np.log([0.5, 0.5])
    account = Account(("a", "b"), given, ())
    given[0] = 0.0
    assert account.log_prior[0] == np.log(0.5)
    with pytest.raises(ValueError, match="read-only"):
        account.log_prior[0] = 0.0


def test_an_impossible_case_says_what_rules_each_state_out() -> None:
    account = Account(
        ("yes", "no"),
        np.log([0.5, 0.5]),
        (Contribution("x", "odd", np.array([NEVER, -1.0])), Contribution("y", 3, np.array([-1.0, NEVER]))),
    )
    with pytest.raises(ImpossibleEvidenceError, match="'yes' by x = 'odd'; 'no' by y = 3"):
        _ = account.posterior
    with pytest.raises(ImpossibleEvidenceError):
        account.weigh("yes")


def test_one_state_is_certain_and_has_no_rival() -> None:
    account = Account(("only",), np.zeros(1), (Contribution("x", 1, np.array([-3.0])),))
    assert account.posterior.tolist() == [1.0]
    assert account.to_dict()["balance"] is None
    with pytest.raises(ParameterError, match="no state beside 'only'"):
        account.weigh()
    with pytest.raises(ParameterError, match="'only' has no rival"):
        account.weigh("only")


def test_a_misspelt_state_is_guessed() -> None:
    with pytest.raises(ParameterError, match=r"no state 'yess'. Fix: did you mean 'yes'\?"):
        golf().log_odds("yess")


def test_a_change_of_an_unknown_column_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"no column 'winds'. Fix: did you mean 'wind'\?"):
        golf().with_changes({"winds": Contribution("winds", 1, np.zeros(2))})


def test_json_has_every_number_and_no_infinity() -> None:
    ruled_out = Contribution("x", np.float32(0.5), np.array([-1.0, NEVER]))
    missing = Contribution("y", None, np.zeros(2), "missing: skipped")
    account = Account(("a", 1), np.log([0.5, 0.5]), (ruled_out, missing), "Laplace", title="case")
    plain = json.loads(json.dumps(account.to_dict(), allow_nan=False))
    assert plain["states"] == ["a", 1]
    assert plain["contributions"][0]["log_likelihood"] == [-1.0, "-inf"]
    assert plain["contributions"][1] == {
        "column": "y",
        "value": None,
        "log_likelihood": [0.0, 0.0],
        "note": "missing: skipped",
    }
    assert float(plain["balance"]["log_odds"]) == math.inf
    assert (plain["posterior"], plain["convention"], plain["title"]) == ([1.0, 0.0], "Laplace", "case")


def test_a_frame_has_a_line_for_the_prior_each_column_and_the_joint() -> None:
    frame = golf().to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame["column"]) == ["(prior)", "outlook", "temperature", "humidity", "wind", "(joint)"]
    assert frame["log_no"].iloc[:-1].sum() == pytest.approx(frame["log_no"].iloc[-1], rel=1e-14)


def test_the_frame_is_of_the_library_that_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert isinstance(golf().to_frame(), polars.DataFrame)
    monkeypatch.setitem(sys.modules, "polars", None)
    assert golf().to_frame() == golf().to_columns()


def test_states_that_print_alike_have_columns_of_their_own() -> None:
    columns = Account((1, "1"), np.log([0.5, 0.5]), ()).to_columns()
    assert list(columns) == ["column", "value", "log_1", "log_'1'", "note"]


def test_the_repr_is_one_line() -> None:
    assert repr(golf()) == (
        "Account(no: prior 0.3571, posterior 0.7954; 4 columns: outlook +0.99, humidity +0.88, wind +0.59 and 1 more)"
    )
    assert len(repr(random_account(6, 500))) < 200
    assert "\n" not in repr(random_account(5))


def at_the_means() -> Account:
    """A regression's case: the first line is what it says of a row of means."""
    parts = (Contribution("income", 2.0, np.array([0.0, 14.0])), Contribution("age", 50.0, np.array([0.0, -1.0])))
    return Account(("no", "yes"), np.array([0.0, -17.0]), parts, "logistic regression", start=AT_THE_MEANS)


def test_what_is_said_of_a_row_of_means_is_not_called_a_prior() -> None:
    account = at_the_means()
    assert account.to_dict()["start"] == account.weigh().to_dict()["start"] == "at the means"
    assert account.to_columns()["column"][0] == "(at the means)"
    assert account.equation == "at the means × a factor for each column = posterior"
    for text in (account.to_text(), account.to_html()):
        assert "at the means" in text and "prior" not in text.replace("posterior", "")
    assert WaterfallDisplay.from_account(account).bars()[0].name == "at the means"
    titles = {axes.get_title() for axes in account.plot_panels().ax_.child_axes}
    assert titles == {"at the means", "factor, relative to the best class", "posterior"}


def test_a_prior_is_still_called_one() -> None:
    assert golf().to_dict()["start"] == "prior"
    assert golf().equation == "prior × likelihoods = posterior"


def test_a_calibration_keeps_the_name_of_the_start() -> None:
    assert CalibratedAccount.of(at_the_means(), AsItIs()).start == "at the means"
