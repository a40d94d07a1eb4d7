"""Ours and scikit-learn's on the development or the reporting set, fold by fold, with mean ranks."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.quality.development import DEVELOPMENT, NONLINEAR, SHARP, WIDE
from benchmarks.quality.few_rows import FEW_ROWS
from benchmarks.quality.games import GAMES
from benchmarks.quality.measures import MEASURES, cost_table, critical_difference, mean_ranks, measured
from benchmarks.quality.methods import MORE_PEERS, PEERS, ours, peers, tuned_threshold
from benchmarks.quality.reporting import REPORTING
from benchmarks.quality.tables import Table, Tables

TUNED = "TunedThreshold of logistic regression"
UNCALIBRATED = "auto, not calibrated"
SETS = {
    "development": DEVELOPMENT,
    "nonlinear": NONLINEAR,
    "sharp": SHARP,
    "games": GAMES,
    "wide": WIDE,
    "few-rows": FEW_ROWS,
    "reporting": REPORTING,
}
Measured = dict[str, dict[str, float]]  # by method and measure
Scores = dict[str, Measured]  # by table


@dataclass
class Kept:
    """Figures of single folds, in a file of one line each: a run that was stopped goes on from there."""

    path: Path | None
    found: dict[tuple[str, int, int], Measured] = field(default_factory=dict)  # by table, seed and fold

    @classmethod
    def of(cls, path: str | None) -> Kept:
        kept = cls(Path(path) if path else None)
        if kept.path is not None and kept.path.exists():
            for line in kept.path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                kept.found[row["table"], row["seed"], row["fold"]] = row["measured"]
        return kept

    def keep(self, table: str, seed: int, fold: int, measured: Measured) -> None:
        self.found[table, seed, fold] = measured
        if self.path is not None:
            row = {"table": table, "seed": seed, "fold": fold, "measured": measured}
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")

    def scores(self) -> Scores:
        """The means over all folds and seeds that are done."""
        parts: dict[str, list[Measured]] = {}
        for (table, _, _), found in sorted(self.found.items()):
            parts.setdefault(table, []).append(found)
        return {
            table: {
                name: {measure: float(np.mean([fold[name][measure] for fold in folds])) for measure in folds[0][name]}
                for name in folds[0]
                if all(name in fold for fold in folds)
            }
            for table, folds in parts.items()
        }


def folds_of(table: Table, n_folds: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """(train, test) of stratified folds."""
    from sklearn.model_selection import StratifiedKFold

    yield from StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(*table)


def evaluated(
    table: Table,
    train: np.ndarray,
    test: np.ndarray,
    *,
    with_ours: bool = True,
    names_of_peers: Sequence[str],
    trials: Path | None = None,
) -> Measured:
    """All measures of ours and of some peers on one fold."""
    frame, y = table
    states = sorted(y.unique())
    rare = min(states, key=lambda state: int((y == state).sum()))
    parts = frame.iloc[train].reset_index(drop=True), y.iloc[train].reset_index(drop=True)
    test_rows = frame.iloc[test].reset_index(drop=True)
    truth = np.array([states.index(label) for label in y.iloc[test]])
    posteriors = ours(*parts, test_rows, states, trials) if with_ours else {}
    posteriors |= peers(*parts, test_rows, states, names_of_peers)
    found = {name: measured(posterior, truth, states.index(rare)) for name, posterior in posteriors.items()}
    if TUNED in names_of_peers and len(states) == 2:
        found[TUNED] = _costs_of_tuned(*parts, test_rows, states, rare, truth)
    return found


def _costs_of_tuned(
    train: pd.DataFrame, y: pd.Series, test: pd.DataFrame, states: list[str], rare: str, truth: np.ndarray
) -> dict[str, float]:
    """Of a threshold that is tuned for each of two ratios of costs: it decides, and has no posterior of its own."""
    found = {}
    for dear in (1.0, 5.0):
        action = tuned_threshold(train, y, test, states, rare, dear)
        found[f"cost {dear:g}:1"] = float(cost_table(2, states.index(rare), dear)[action, truth].mean())
    return found


# -- figures --------------------------------------------------------------------------------------------------
def ranked(scores: Scores, measure: str) -> tuple[dict[str, float], int]:
    """Mean ranks of the methods that have the measure on every table, and the number of tables."""
    everywhere = [name for name in next(iter(scores.values())) if name != UNCALIBRATED]
    everywhere = [name for name in everywhere if all(measure in found.get(name, {}) for found in scores.values())]
    return mean_ranks({name: [found[name][measure] for found in scores.values()] for name in everywhere}), len(scores)


def excess(scores: Scores) -> dict[str, tuple[float, float]]:
    """By table the log-loss of auto as a share of that of the single member that left-out rows choose, and of the best.

    The second is the best in hindsight, on the rows that are reported: nobody could have chosen it.
    """
    found = {}
    for table, by_method in scores.items():
        members = [name for name in by_method if not _is_peer(name) and not name.startswith("auto")]
        best = min(by_method[name]["log-loss"] for name in members)
        auto = by_method["auto"]["log-loss"]
        found[table] = auto / by_method["best single"]["log-loss"], auto / best
    return found


def _is_peer(name: str) -> bool:
    return name in PEERS or name in MORE_PEERS or name == TUNED


def lines_of(scores: Scores) -> Iterator[str]:
    """Log-losses by table, then mean ranks by measure, over the methods that apply to every table."""
    shares = excess(scores)
    for table, every in scores.items():
        found = {name: by for name, by in every.items() if name != TUNED}
        best = min(found, key=lambda name: found[name]["log-loss"])
        chosen, hindsight = shares[table]
        yield (
            f"{table}: best {best} {found[best]['log-loss']:.4f}; auto {chosen:.1%} of the single model that left-out "
            f"rows choose, {hindsight:.1%} of the best single model in hindsight"
        )
        yield "   " + ", ".join(f"{name} {by['log-loss']:.4f}" for name, by in found.items())
    for measure in MEASURES:
        yield _line_of_ranks(f"{measure}", scores, measure)
    for measure in MEASURES:
        shown = [
            name for name in next(iter(scores.values())) if all(measure in by.get(name, {}) for by in scores.values())
        ]
        means = {name: float(np.mean([by[name][measure] for by in scores.values()])) for name in shown}
        yield f"{measure}, mean of {len(scores)} tables: " + ", ".join(f"{name} {means[name]:.4f}" for name in means)
    of_two = {table: found for table, found in scores.items() if TUNED in found}
    for measure in ("cost 1:1", "cost 5:1") if of_two else ():
        auto, tuned = (np.mean([found[name][measure] for found in of_two.values()]) for name in ("auto", TUNED))
        yield f"{measure}, mean of {len(of_two)} tables of two classes: auto {auto:.4f}, {TUNED} {tuned:.4f}"
        yield _line_of_ranks(f"{measure}, two classes", of_two, measure)


def _line_of_ranks(what: str, scores: Scores, measure: str) -> str:
    ranks, n_tables = ranked(scores, measure)
    shown = sorted(ranks, key=lambda name: ranks[name])
    least = critical_difference(len(ranks), n_tables) if n_tables > 1 else float("nan")
    return (
        f"{what} (mean ranks of {len(ranks)} methods on {n_tables} tables; critical difference at 5 % {least:.2f}): "
        + ", ".join(f"{name} {ranks[name]:.2f}" for name in shown)
    )


def run(
    tables: Tables,
    *,
    n_folds: int,
    n_seeds: int,
    names_of_peers: Sequence[str],
    tell: Callable[[str], None],
    kept: Kept | None = None,
    only: str | None = None,
    trials: Path | None = None,
) -> Scores:
    """All methods on all tables, fold by fold of all tables: a run that was stopped has seen each of them.

    `only` "ours" or "peers" are learned, beside what is kept of the others; peers that are kept are not learned again.
    `trials` is a folder that keeps our candidates, so that other ways to weigh them are compared without learning.
    """
    kept = kept or Kept(None)
    made = {name: make() for name, make in tables.items()}
    for seed in range(n_seeds):
        folds = {name: list(folds_of(table, n_folds, seed)) for name, table in made.items()}
        for fold in range(n_folds):
            for name, table in made.items():
                before = kept.found.get((name, seed, fold), {})
                with_ours = only == "ours" or (only is None and "auto" not in before)
                missing = [peer for peer in names_of_peers if peer not in before] if only != "ours" else []
                if not with_ours and not [peer for peer in missing if peer != TUNED]:
                    continue
                began = time.process_time()
                found = evaluated(table, *folds[name][fold], with_ours=with_ours, names_of_peers=missing, trials=trials)
                others = {each: by for each, by in before.items() if not with_ours or _is_peer(each)}
                kept.keep(name, seed, fold, found | others)
                tell(f"{name}, seed {seed}, fold {fold}: {time.process_time() - began:.0f} s of CPU")
    scores = kept.scores()
    return {name: scores[name] for name in tables}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description=__doc__)
    parser.add_argument("--set", choices=list(SETS), default="reporting", dest="which")
    parser.add_argument("--tables", nargs="*", help="only these")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--peers",
        nargs="*",
        default=[*PEERS, TUNED],
        choices=[*PEERS, *MORE_PEERS, TUNED],
        metavar="NAME",
        help="these of scikit-learn's beside ours, or none; default: all but early stopping",
    )
    parser.add_argument("--keep", metavar="FILE", help="keep the figures of each fold there, and go on from those kept")
    parser.add_argument(
        "--trials", type=Path, metavar="FOLDER", help="keep what our candidates learn there, and weigh what is kept"
    )
    parser.add_argument(
        "--only", choices=("ours", "peers"), help="learn only these, and take what --keep has of the others"
    )
    parser.add_argument("--only-kept", action="store_true", help="show the figures that are kept, and learn nothing")
    args = parser.parse_args()
    tables = {name: make for name, make in SETS[args.which].items() if not args.tables or name in args.tables}
    kept = Kept.of(args.keep)
    if args.only_kept:
        scores = {name: found for name, found in kept.scores().items() if name in tables}
    else:
        with threadpool_limits(1):  # threads of OpenMP that wait for each other burn what they save on small tables
            scores = run(
                tables,
                n_folds=args.folds,
                n_seeds=args.seeds,
                names_of_peers=args.peers,
                tell=lambda text: print(text, flush=True),
                kept=kept,
                only=args.only,
                trials=args.trials,
            )
    if args.only != "peers":
        print(*lines_of(scores), sep="\n")


if __name__ == "__main__":
    main()
