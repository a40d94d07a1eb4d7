"""Many tables of some 100 rows, whose classes are easily separated but for odd rows; settings may be chosen by them.

One such table says little: whether one odd row is among the learned ones or among the reported ones decides.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks.quality.development import animals
from benchmarks.quality.tables import Table, Tables

LEAST = 6  # rows of a kind, so that every fold has one


def odd_animals(seed: int) -> Table:
    """70 to 170 animals of 3 to 7 kinds; 2 to 6 % of them share half of what they have with an animal of any kind."""
    g = np.random.default_rng(seed)
    n, classes, odd = int(g.integers(70, 170)), int(g.integers(3, 8)), float(g.uniform(0.02, 0.06))
    frame, kind = animals(n, seed + 100, classes)
    for row in np.flatnonzero(g.random(n) < odd):
        shared = g.choice(frame.columns, 8, replace=False)
        frame.loc[row, shared] = frame.loc[int(g.integers(0, n)), shared]
    often = kind.isin(kind.value_counts().loc[lambda counts: counts >= LEAST].index)
    return frame[often].reset_index(drop=True), kind[often].reset_index(drop=True)


FEW_ROWS: Tables = {f"odd animals {k}": partial(odd_animals, 7_600 + k) for k in range(60)}
