"""Tables that say nothing: the intervals that cross-validation reports must contain the error of chance.

`python -m benchmarks.quality.noise --seeds 200` learns every kind of model from tables whose class is independent of
all columns, and evaluates each in folds. A model that chose cuts, graphs, families or weights by the rows that it is
evaluated on would look better than chance.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

import bayeswise as bw
from bayeswise.evaluation.model_comparison import names_of_classifiers

CHANCE = 0.5


@dataclass(frozen=True)
class Coverage:
    """How many 95 % intervals contained the error of chance, and how many said less than the log-loss of chance."""

    model: str
    n_tables: int
    n_containing: int
    n_better: int  # intervals of the log-loss that lie below log 2
    mean_error: float

    @property
    def share(self) -> float:
        return self.n_containing / max(self.n_tables, 1)


def noise(seed: int) -> pd.DataFrame:
    """Two classes in 100 rows; every other table has 30 binary columns, the rest four numbers and two categories."""
    g = np.random.default_rng(seed)
    if seed % 2:
        columns = {f"b{j}": np.where(g.random(100) < 0.5, "on", "off") for j in range(30)}
    else:
        columns = {f"x{j}": g.normal(size=100) for j in range(4)}
        columns |= {f"c{j}": g.choice(list("uvw"), 100) for j in range(2)}
    return pd.DataFrame(columns).assign(y=g.permutation(np.repeat(["a", "b"], 50)))


@dataclass
class Kept:
    """(error, its interval contains chance, its log-loss claims more) by model and seed, in a file of one line each."""

    path: Path | None
    found: dict[tuple[str, int], tuple[float, bool, bool]] = field(default_factory=dict)

    @classmethod
    def of(cls, path: str | None) -> Kept:
        kept = cls(Path(path) if path else None)
        if kept.path is not None and kept.path.exists():
            for line in kept.path.read_text(encoding="utf-8").splitlines():
                row = json.loads(line)
                kept.found[row["model"], row["seed"]] = row["error"], row["contains"], row["better"]
        return kept

    def keep(self, model: str, seed: int, error: float, contains: bool, better: bool) -> None:
        self.found[model, seed] = error, contains, better
        if self.path is not None:
            row = {"model": model, "seed": seed, "error": error, "contains": contains, "better": better}
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")

    def coverage(self, model: str, n_seeds: int) -> Coverage:
        """The counts of one kind of model over the seeds that are done."""
        rows = [row for (name, seed), row in sorted(self.found.items()) if name == model and seed < n_seeds]
        errors = [error for error, _, _ in rows]
        return Coverage(
            model,
            len(rows),
            sum(contains for _, contains, _ in rows),
            sum(better for _, _, better in rows),
            float(np.mean(errors)) if errors else float("nan"),
        )


def covered(models: Sequence[str], n_seeds: int, *, cv: int = 5, kept: Kept | None = None) -> Iterator[Coverage]:
    """Each kind of model on tables of noise, seed by seed of all kinds: a run that was stopped has seen each of them.

    Kinds that a table does not suit are left out of its count.
    """
    kept = kept or Kept(None)
    for seed in range(n_seeds):
        table = noise(seed)
        for name in models:
            if (name, seed) in kept.found or (name == "gaussian" and seed % 2):  # nothing but categories
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = bw.evaluate(bw.fit(table, "y", model=name), table, cv=cv)
            paid = found.cost_per_case
            contains, better = paid.low <= CHANCE <= paid.high, found.log_loss.high < np.log(2.0)
            kept.keep(name, seed, float(paid.mean), bool(contains), bool(better))
    for name in models:
        yield kept.coverage(name, n_seeds)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.noise", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--models", nargs="*", default=names_of_classifiers())
    parser.add_argument("--cv", type=int, default=5)
    parser.add_argument("--keep", metavar="FILE", help="keep the figures there, and go on from those kept")
    parser.add_argument("--only-kept", action="store_true", help="show the figures that are kept, and learn nothing")
    arguments = parser.parse_args()
    kept = Kept.of(arguments.keep)
    if arguments.only_kept:
        shown = iter([kept.coverage(name, arguments.seeds) for name in arguments.models])
    else:
        shown = covered(arguments.models, arguments.seeds, cv=arguments.cv, kept=kept)
    for found in shown:
        print(
            f"{found.model}: {found.n_containing} of {found.n_tables} intervals ({found.share:.1%}) contain the error "
            f"of chance, mean error {found.mean_error:.3f}; {found.n_better} claim less than its log-loss",
            flush=True,
        )


if __name__ == "__main__":
    main()
