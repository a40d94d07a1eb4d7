"""Tables that say nothing: the intervals that cross-validation reports must contain the error of chance.

`python -m benchmarks.quality.noise --seeds 200` learns every kind of model from tables whose class is independent of
all columns, and evaluates each in folds. A model that chose cuts, graphs, families or weights by the rows that it is
evaluated on would look better than chance.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

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
        return self.n_containing / self.n_tables


def noise(seed: int) -> pd.DataFrame:
    """Two classes in 100 rows; every other table has 30 binary columns, the rest four numbers and two categories."""
    g = np.random.default_rng(seed)
    if seed % 2:
        columns = {f"b{j}": np.where(g.random(100) < 0.5, "on", "off") for j in range(30)}
    else:
        columns = {f"x{j}": g.normal(size=100) for j in range(4)}
        columns |= {f"c{j}": g.choice(list("uvw"), 100) for j in range(2)}
    return pd.DataFrame(columns).assign(y=g.permutation(np.repeat(["a", "b"], 50)))


def covered(
    models: Sequence[str], n_seeds: int, *, cv: int = 5, tell: Callable[[str], None] = lambda text: None
) -> Iterator[Coverage]:
    """Each kind of model on tables of noise; kinds that a table does not suit are left out of its count."""
    for name in models:
        errors, containing, better = [], 0, 0
        for seed in range(n_seeds):
            table = noise(seed)
            if name == "gaussian" and seed % 2:
                continue  # nothing but categories
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = bw.evaluate(bw.fit(table, "y", model=name), table, cv=cv)
            errors.append(found.cost_per_case.mean)
            containing += found.cost_per_case.low <= CHANCE <= found.cost_per_case.high
            better += found.log_loss.high < np.log(2.0)
        yield Coverage(name, len(errors), containing, better, float(np.mean(errors)))
        tell(name)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality.noise", description=__doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--models", nargs="*", default=names_of_classifiers())
    parser.add_argument("--cv", type=int, default=5)
    asked = parser.parse_args()
    for found in covered(asked.models, asked.seeds, cv=asked.cv):
        print(
            f"{found.model}: {found.n_containing} of {found.n_tables} intervals ({found.share:.1%}) contain the error "
            f"of chance, mean error {found.mean_error:.3f}; {found.n_better} claim less than its log-loss",
            flush=True,
        )


if __name__ == "__main__":
    main()
