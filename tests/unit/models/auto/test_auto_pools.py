"""Ways to pool the members of auto: the mean of posteriors, the mean of their logarithms, or a single one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bayeswise as bw
from bayeswise.foundation.arrays import FloatArray
from bayeswise.foundation.errors import StoreError
from bayeswise.models.auto import weighing
from bayeswise.models.auto.model import AutoModel
from bayeswise.models.auto.pooling import LogLinear
from bayeswise.models.auto.weighing import LeftOutRows
from bayeswise.posteriors.calibration_maps import AsItIs


def flags(n: int = 90, seed: int = 10) -> dict[str, list[str]]:
    """Three kinds that are easily separated, by twelve flags of which some are wrong."""
    g = np.random.default_rng(seed)
    kind = np.arange(n) % 3
    shown = (np.arange(12) // 4 == kind[:, None]) ^ (g.random((n, 12)) < 0.06)
    columns = {f"f{j}": np.where(shown[:, j], "yes", "no").tolist() for j in range(12)}
    return columns | {"y": [f"k{k}" for k in kind]}


@pytest.fixture(scope="module")
def model() -> AutoModel:
    found: AutoModel = bw.fit(flags(), "y", model="auto")
    assert found.pool is not None
    return found


def posteriors_of_members(model: AutoModel, table: dict[str, list[str]]) -> FloatArray:
    (batch,) = model.batches(table)
    return np.stack([member.log_posterior(batch, model.classes) for member in model.members])


def test_members_that_agree_are_more_confident_together(model: AutoModel) -> None:
    fresh = flags(300, 11)
    truth = [model.classes.index(label) for label in fresh["y"]]
    averaged = replace(model, pool=None)
    loss = -model.predict_log_proba(fresh)[np.arange(300), truth].mean()
    assert loss < -averaged.predict_log_proba(fresh)[np.arange(300), truth].mean()


def test_what_members_say_beyond_the_shares_of_classes_is_multiplied(
    model: AutoModel,
) -> None:
    plain = replace(model, calibration=AsItIs())
    fresh = flags(20, 12)
    pool = model.pool
    assert pool is not None
    shares = (1.0 - pool.least) * np.exp(posteriors_of_members(model, fresh)) + pool.least / 3
    classes = (1.0 - pool.least) * model.class_weight / model.class_weight.sum() + pool.least / 3
    expected = classes * np.prod((shares / classes) ** (pool.power * model.weights)[:, None, None], axis=0)
    assert plain.predict_proba(fresh) == pytest.approx(expected / expected.sum(axis=1, keepdims=True), rel=1e-9)


def test_what_columns_say_adds_up_to_the_log_odds(model: AutoModel) -> None:
    table = flags(6, 13)
    for k in range(6):
        row = {name: cells[k] for name, cells in table.items() if name != "y"}
        account = model.explain(row)
        log_joint = account.log_prior + np.sum([part.log_likelihood for part in account.contributions], axis=0)
        answer = model.predict_log_proba(row)[0]
        assert log_joint - log_joint[0] == pytest.approx(answer - answer[0], abs=1e-9)


def test_the_file_keeps_the_pool_and_refuses_an_impossible_one(model: AutoModel, tmp_path: Path) -> None:
    path = tmp_path / "pool.bayeswise"
    model.save(path)
    again = bw.load(path)
    assert again.pool == model.pool
    assert np.array_equal(again.predict_proba(flags(9, 14)), model.predict_proba(flags(9, 14)))
    for wrong in (LogLinear(-1.0, 0.01), LogLinear(float("inf"), 0.01), LogLinear(1.0, 0.0), LogLinear(1.0, 1.0)):
        replace(model, pool=wrong).save(path)
        with pytest.raises(StoreError):
            bw.load(path)


def test_a_mean_of_posteriors_is_written_as_by_earlier_versions(model: AutoModel, tmp_path: Path) -> None:
    path = tmp_path / "mean.bayeswise"
    replace(model, pool=None).save(path)
    assert b"pool" not in path.read_bytes() and b"LogLinear" not in path.read_bytes()
    assert bw.load(path).pool is None


def test_forgotten_rows_leave_the_pool_as_it_was_found(model: AutoModel) -> None:
    table = flags()
    with pytest.warns(UserWarning, match="leave"):
        after = model.forget({name: cells[:3] for name, cells in table.items()})
    assert after.pool == model.pool
    assert after.weights.sum() == pytest.approx(1.0, abs=1e-12)


# -- which of them --------------------------------------------------------------------------------------------
def rows(log_members: FloatArray, truth: np.ndarray) -> LeftOutRows:
    shares = np.exp(log_members)
    own = log_members[:, np.arange(len(truth)), truth]
    return LeftOutRows(shares, own, truth, np.ones(len(truth)), np.ones(len(shares), dtype=bool), 0.01)


def normalised(scores: FloatArray) -> FloatArray:
    return scores - np.log(np.exp(scores).sum(axis=-1, keepdims=True))


def test_members_that_err_by_themselves_are_averaged_in_log_space() -> None:
    g = np.random.default_rng(5)
    truth = g.integers(0, 2, 400)
    heard = np.eye(2)[truth] + g.normal(size=(4, 400, 2))
    found, log_loss = rows(normalised(heard), truth).mixture("none")
    assert found.pool is not None and found.pool.power > 2.0
    assert log_loss < min(rows(normalised(heard), truth).losses)


def test_members_of_which_one_at_a_time_is_right_are_averaged_as_they_are() -> None:
    g = np.random.default_rng(6)
    votes = g.integers(0, 5, (5, 600))  # five members, sure of one of five states each
    truth = votes[g.integers(0, 5, 600), np.arange(600)]
    log_members = np.log(np.where(np.eye(5, dtype=bool)[votes], 0.96, 0.01))
    found, _ = rows(log_members, truth).mixture("none")
    assert found.pool is None


def test_a_member_that_others_only_blur_is_taken_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    g = np.random.default_rng(9)
    truth = g.integers(0, 2, 60)
    sharp = 8.0 * np.eye(2)[truth]
    heard = normalised(np.concatenate([sharp[None], sharp + g.normal(size=(5, 60, 2))]))
    alone, log_loss = rows(heard, truth).mixture("none")
    assert alone.kept.tolist() == [0] and alone.pool is None
    monkeypatch.setattr(weighing, "_CLEARLY_BETTER", np.inf)
    pooled, log_loss_of_pools = rows(heard, truth).mixture("none")
    assert len(pooled.kept) == 6 and log_loss_of_pools > 1.1 * log_loss


def test_weak_members_that_only_blur_are_left_out_where_few_rows_can_weigh_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two members hear the truth well, six hear it badly: 80 rows can hardly tell how little those say."""
    g = np.random.default_rng(4)
    truth = g.integers(0, 2, 80)
    well = 4.0 * np.eye(2)[truth] + g.normal(size=(2, 80, 2))
    badly = 2.0 * np.eye(2)[truth] + 0.3 * g.normal(size=(6, 80, 2))
    heard = normalised(np.concatenate([well, badly]))
    found, log_loss = rows(heard, truth).mixture("none")
    assert found.kept.tolist() == [0, 1]
    monkeypatch.setattr(weighing, "WORSE", weighing.MUCH_WORSE)
    blurred, log_loss_of_all = rows(heard, truth).mixture("none")
    assert len(blurred.kept) == 8 and log_loss_of_all > 1.2 * log_loss


def test_a_weak_member_that_hears_something_else_is_kept() -> None:
    """One of four states: the first member hears one bit of it well, the second hears the other bit badly."""
    well, badly = np.random.default_rng(4).integers(0, 2, (2, 600))
    of_first = np.repeat(4.0 * np.eye(2)[well], 2, axis=1)
    of_second = np.tile(0.6 * np.eye(2)[badly], (1, 2))
    both = rows(normalised(np.stack([of_first, of_second])), 2 * well + badly)
    assert both.losses[1] > 1.5 * both.losses[0]
    found, log_loss = both.mixture("none")
    assert found.kept.tolist() == [0, 1] and log_loss < 0.8 * both.losses[0]


def test_the_log_loss_is_that_of_rows_that_neither_weights_nor_pool_have_seen() -> None:
    """On noise no mixture is better than chance, and none says so."""
    g = np.random.default_rng(7)
    losses = []
    for _ in range(40):
        truth = g.integers(0, 2, 60)
        _, log_loss = rows(normalised(g.normal(size=(6, 60, 2))), truth).mixture("none")
        losses.append(log_loss)
    assert np.mean(losses) > np.log(2.0)


def test_members_that_are_worse_than_none_are_averaged_as_they_are() -> None:
    g = np.random.default_rng(8)
    truth = g.integers(0, 2, 80)
    away_from_truth = normalised(-4.0 * np.eye(2)[truth] + g.normal(size=(3, 80, 2)))
    found, log_loss = rows(away_from_truth, truth).mixture("none")
    assert found.pool is None and np.isfinite(log_loss)


def test_one_row_and_one_class_have_a_mixture() -> None:
    one, _ = rows(np.log(np.array([[[0.7, 0.3]], [[0.4, 0.6]]])), np.array([0])).mixture("auto")
    assert one.weights.sum() == pytest.approx(1.0)
    same, log_loss = rows(np.zeros((3, 5, 1)), np.zeros(5, dtype=np.int64)).mixture("auto")
    assert same.weights.sum() == pytest.approx(1.0) and log_loss == 0.0


def test_a_row_that_underflows_does_not_pay_for_a_calibration_of_many_classes() -> None:
    truth = np.arange(60) % 30
    log_p = normalised(np.log(np.eye(30)[truth] + 0.1))[None]
    log_p[0, 0] = -800.0  # exp is 0, and its logarithm would be infinite
    log_p[0, 0, 1] = 0.0
    alone, _ = rows(log_p, truth).best(None, "auto")
    assert isinstance(alone.calibration, AsItIs)  # 899 numbers cost 1,840 nats, and all rows have less
