"""Make the credit tables of this folder: invented applicants, drawn with a fixed seed, free for any use.

python examples/make_credit.py
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
HISTORY, PURPOSE = ("clean", "late", "new"), ("car", "home", "study", "other")
COLUMNS = ("income", "amount", "history", "employed", "purpose", "repaid")


def log_odds_of_repaying(income: Any, amount: Any, history: Any, employed: Any) -> Any:
    """What is true of these applicants; `history` is a position in HISTORY. The purpose does not matter."""
    score = 2.6 + 1.2 * (np.log(income) - 7.9) - 0.6 * (np.log(amount) - 8.3) + 0.9 * employed
    return score + (np.array([0.3, -2.2, -0.5])[history] - 1.0)


def applicants(n_rows: int, seed: int) -> list[tuple[object, ...]]:
    """Rows in which repaying depends on income, amount, history and employment."""
    generator = np.random.default_rng(seed)
    income = np.exp(generator.normal(7.9, 0.45, n_rows)).round(-1)
    amount = np.exp(generator.normal(8.3, 0.8, n_rows)).round(-2) + 100
    history = generator.choice(3, n_rows, p=[0.6, 0.15, 0.25])
    employed = generator.random(n_rows) < 0.8
    score = log_odds_of_repaying(income, amount, history, employed)
    repaid = generator.random(n_rows) < 1 / (1 + np.exp(-score))
    purpose = generator.choice(4, n_rows, p=[0.35, 0.2, 0.15, 0.3])
    return [
        (int(i), int(a), HISTORY[h], "yes" if e else "no", PURPOSE[p], "yes" if r else "no")
        for i, a, h, e, p, r in zip(income, amount, history, employed, purpose, repaid, strict=True)
    ]


def write(path: Path, rows: list[tuple[object, ...]]) -> None:
    """Write a table with its header."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows(rows)


if __name__ == "__main__":
    write(HERE / "credit.csv", applicants(1000, seed=1))
    write(HERE / "credit-test.csv", applicants(500, seed=2))
