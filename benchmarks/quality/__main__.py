"""Ours and scikit-learn's on the development or the reporting set, fold by fold, with mean ranks."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.quality.measures import MEASURES, cost_table, critical_difference, mean_ranks, measured
from benchmarks.quality.methods import ours, peers, tuned_threshold
from benchmarks.quality.tables import DEVELOPMENT, REPORTING, Table

TUNED = "TunedThreshold of logistic regression"
Scores = dict[str, dict[str, dict[str, float]]]  # by table, method and measure


def evaluated(table: Table, *, n_folds: int, n_seeds: int, with_peers: bool) -> dict[str, dict[str, float]]:
    """The means of all measures over folds and seeds, by method."""
    from sklearn.model_selection import StratifiedKFold

    frame, y = table
    states = sorted(y.unique())
    found: dict[str, list[dict[str, float]]] = {}
    for seed in range(n_seeds):
        for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(frame, y):
            parts = frame.iloc[train].reset_index(drop=True), y.iloc[train].reset_index(drop=True)
            asked = frame.iloc[test].reset_index(drop=True)
            truth = np.array([states.index(label) for label in y.iloc[test]])
            posteriors = ours(*parts, asked, states)
            posteriors |= peers(*parts, asked, states) if with_peers else {}
            for name, posterior in posteriors.items():
                found.setdefault(name, []).append(measured(posterior, truth))
            if with_peers and len(states) == 2:
                found.setdefault(TUNED, []).append(_costs_of_tuned(*parts, asked, states, truth))
    return {
        name: {measure: float(np.mean([each[measure] for each in parts])) for measure in parts[0]}
        for name, parts in found.items()
    }


def _costs_of_tuned(
    train: pd.DataFrame, y: pd.Series, test: pd.DataFrame, states: list[str], truth: np.ndarray
) -> dict[str, float]:
    """Of a threshold that is tuned for each of two ratios of costs: it decides, and has no posterior of its own."""
    found = {}
    for dear in (1.0, 5.0):
        action = tuned_threshold(train, y, test, states, dear)
        found[f"cost {dear:g}:1"] = float(cost_table(truth, 2, dear)[action, truth].mean())
    return found


def lines_of(scores: Scores) -> Iterator[str]:
    """Log-losses by table, then mean ranks by measure, over the methods that apply to every table."""
    everywhere = [name for name in next(iter(scores.values())) if all(name in found for found in scores.values())]
    everywhere = [name for name in everywhere if name != TUNED]
    for table, every in scores.items():
        found = {name: by for name, by in every.items() if name != TUNED}
        best = min(found, key=lambda name: found[name]["log-loss"])
        yield f"{table}: best {best} {found[best]['log-loss']:.4f}"
        yield "   " + ", ".join(f"{name} {by['log-loss']:.4f}" for name, by in found.items())
    with_tuned = [found for found in scores.values() if TUNED in found]
    for measure in ("cost 1:1", "cost 5:1") if with_tuned else ():
        auto, tuned = (np.mean([found[name][measure] for found in with_tuned]) for name in ("auto", TUNED))
        yield f"{measure}, mean of {len(with_tuned)} tables of two classes: auto {auto:.4f}, {TUNED} {tuned:.4f}"
    yield f"critical difference of mean ranks at 5 %: {critical_difference(len(everywhere), len(scores)):.2f}"
    for measure in MEASURES:
        ranks = mean_ranks({name: [found[name][measure] for found in scores.values()] for name in everywhere})
        shown = sorted(ranks, key=lambda name: ranks[name])
        yield f"{measure}: " + ", ".join(f"{name} {ranks[name]:.2f}" for name in shown)


def run(
    tables: dict[str, Callable[[], Table]], *, n_folds: int, n_seeds: int, with_peers: bool, tell: Callable[[str], None]
) -> Scores:
    """All methods on all tables."""
    scores: Scores = {}
    for name, make in tables.items():
        began = time.perf_counter()
        scores[name] = evaluated(make(), n_folds=n_folds, n_seeds=n_seeds, with_peers=with_peers)
        auto = scores[name]["auto"]["log-loss"]
        rest = {other: by["log-loss"] for other, by in scores[name].items() if "log-loss" in by and "auto" not in other}
        best = min(rest, key=lambda other: rest[other])
        tell(f"{name}: auto {auto:.4f}, {best} {rest[best]:.4f}  ({time.perf_counter() - began:.0f} s)")
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--set", choices=["development", "reporting"], default="reporting", dest="which")
    parser.add_argument("--tables", nargs="*", help="only these")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--no-peers", action="store_true", help="ours only")
    parser.add_argument("--json", help="write all figures to this file")
    asked = parser.parse_args()
    tables = DEVELOPMENT if asked.which == "development" else REPORTING
    tables = {name: make for name, make in tables.items() if not asked.tables or name in asked.tables}
    scores = run(
        tables,
        n_folds=asked.folds,
        n_seeds=asked.seeds,
        with_peers=not asked.no_peers,
        tell=lambda text: print(text, flush=True),
    )
    print(*lines_of(scores), sep="\n")
    if asked.json:
        Path(asked.json).write_text(json.dumps(scores, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
