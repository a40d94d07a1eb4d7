"""Posteriors of all candidates of auto for left-out rows and for test rows, kept in a folder.

Learning the candidates takes minutes and weighing them less than a second, so ways to weigh them are compared here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from bayeswise.models.auto.candidates import CANDIDATES
from bayeswise.models.auto.learning import Trials, tried
from bayeswise.models.auto.stacking import NEGLIGIBLE, NEGLIGIBLE_OF_MANY
from bayeswise.models.auto.weighing import LeftOutRows, Mixture
from bayeswise.models.from_table import schema_for
from bayeswise.models.settings.auto import AutoSettings
from bayeswise.posteriors.calibration_maps import AsItIs
from bayeswise.tables.encoding.encoder import Encoder
from bayeswise.tables.source import open_source

FloatArray = np.ndarray


@dataclass(frozen=True)
class Tried:
    """All candidates on one fold."""

    names: list[str]
    classes: list[str]
    exact: FloatArray  # (n_candidates,) keep statistics, and not weights
    left_out: FloatArray  # (n_candidates, n_rows, n_states)
    log_own: FloatArray  # (n_candidates, n_rows)
    truth: FloatArray  # (n_rows,)
    log_test: FloatArray  # (n_candidates, n_test_rows, n_states) of the rows that are reported
    negligible: float  # of all weight: a member below is left out

    @classmethod
    def of(cls, trials: Trials, test: pd.DataFrame) -> Tried:
        model = trials.weighed(AutoSettings())
        (batch,) = list(model.batches(test))
        order = {candidate.name: place for place, candidate in enumerate(CANDIDATES)}
        done = sorted(trials.done, key=lambda trial: order[trial.candidate.name])
        whole = trials.chosen is trials.rows
        members = [trial.member if whole else trial.member.estimated(trials.rows) for trial in done]
        return cls(
            [trial.candidate.name for trial in done],
            [str(label) for label in model.classes],
            np.array([not trial.member.learns_weights for trial in done]),
            np.stack([trial.left_out.posterior for trial in done]),
            np.stack([trial.left_out.log_own for trial in done]),
            trials.truth,
            np.stack([member.log_posterior(batch, model.classes) for member in members]),
            NEGLIGIBLE if whole else NEGLIGIBLE_OF_MANY,
        )

    @classmethod
    def read(cls, path: Path) -> Tried:
        with np.load(path, allow_pickle=False) as kept:
            found = {name: kept[name] for name in kept.files}
        return cls(**found | {name: found[name].tolist() for name in ("names", "classes", "negligible")})

    def write(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(path, **vars(self))

    # -- what they answer -------------------------------------------------------------------------------------
    def posteriors(self) -> dict[str, FloatArray]:
        """Of the test rows: auto, the single candidate that left-out rows choose, and each candidate."""
        rows = LeftOutRows(
            self.left_out, self.log_own, self.truth, np.ones(len(self.truth)), self.exact, self.negligible
        )
        mixture, _ = rows.mixture("auto")
        best, _ = rows.best(None, "auto")
        plain = self._mixed(mixture)
        found = {"auto": _calibrated(mixture, plain), "auto, not calibrated": plain}
        found |= {name: np.exp(log_test) for name, log_test in zip(self.names, self.log_test, strict=True)}
        return found | {"best single": _calibrated(best, self._mixed(best))}

    def _mixed(self, mixture: Mixture) -> FloatArray:
        log_members = self.log_test[mixture.kept]
        if mixture.pool is None:
            mixed = np.tensordot(mixture.weights, np.exp(log_members), axes=1)
            return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))
        shares = np.bincount(self.truth, minlength=len(self.classes)) / len(self.truth)
        return np.exp(mixture.pool.log_pool(log_members, mixture.weights, np.log(shares)))


def _calibrated(mixture: Mixture, posterior: FloatArray) -> FloatArray:
    return posterior if isinstance(mixture.calibration, AsItIs) else mixture.calibration.apply(posterior)


def tried_on(train: pd.DataFrame, y: pd.Series, test: pd.DataFrame, folder: Path | None) -> Tried:
    """All candidates of a training frame; from the folder, if it keeps some of frames with the same content."""
    path = folder / f"{_fingerprint(train, y, test)}.npz" if folder else None
    if path is not None and path.exists():
        return Tried.read(path)
    source = open_source(train.assign(y=y.to_numpy()))
    schema = schema_for(source, "y", None, {})
    found = Tried.of(tried(list(Encoder(schema, learning=True).batches(source)), schema), test)
    if path is not None:
        found.write(path)
    return found


def _fingerprint(*frames: pd.DataFrame | pd.Series) -> str:
    found = hashlib.sha256()
    for frame in frames:
        found.update(frame.to_csv(index=False).encode())
    return found.hexdigest()[:24]
