"""Accounts that the tests of this folder share."""

from __future__ import annotations

import numpy as np

from bayeswise.explanations import Account, Contribution

NEVER = -np.inf
ODD = [
    "🙂 emoji 名前",
    "שם בעברית",
    "two\nlines",
    "$\\alpha$ <b> & 'q' \"",
    "",
    " a",
    "[/b][red]",
    "x" * 10_000,
    "\x1b[31m",
]


def golf() -> Account:
    """The lecture's case: sunny, cool, high, strong."""
    return Account(
        ("yes", "no"),
        np.log([9 / 14, 5 / 14]),
        (
            Contribution("outlook", "sunny", np.log([2 / 9, 3 / 5])),
            Contribution("temperature", "cool", np.log([3 / 9, 1 / 5])),
            Contribution("humidity", "high", np.log([3 / 9, 4 / 5])),
            Contribution("wind", "strong", np.log([3 / 9, 3 / 5])),
        ),
        "counted, no smoothing",
        title="golf",
    )


def golf_alternatives() -> dict[str, tuple[Contribution, ...]]:
    """All values of the golf table, by column."""
    counts = {
        "outlook": {"sunny": (2, 3), "overcast": (4, 0), "rainy": (3, 2)},
        "temperature": {"hot": (2, 2), "mild": (4, 2), "cool": (3, 1)},
        "humidity": {"high": (3, 4), "normal": (6, 1)},
        "wind": {"weak": (6, 2), "strong": (3, 3)},
    }
    with np.errstate(divide="ignore"):
        return {
            column: tuple(Contribution(column, v, np.log([yes / 9, no / 5])) for v, (yes, no) in values.items())
            for column, values in counts.items()
        }


def random_account(n_states: int = 2, n_columns: int = 12, seed: int = 0, names: list[str] | None = None) -> Account:
    """Some case with that many states and columns."""
    rng = np.random.default_rng(seed)
    names = names or [f"column {k}" for k in range(n_columns)]
    return Account(
        tuple(f"state {k}" for k in range(n_states)),
        np.log(rng.dirichlet(np.ones(n_states))),
        tuple(Contribution(name, name[::-1], np.log(rng.dirichlet(np.ones(n_states)))) for name in names),
        "some convention",
        title="some case",
    )
