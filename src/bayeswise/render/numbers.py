"""Numbers for a reader: four digits, large amounts in full, counts of rows that may be weighted."""

from __future__ import annotations

import numpy as np


def number(value: float) -> str:
    """Four digits, large amounts in full; sums that no number holds are said to be so.

    >>> number(42540.0), number(-0.123456), number(1e12), number(250), number(-np.inf)
    ('42,540', '-0.1235', '1e+12', '250', 'below -1.8e308')
    """
    if np.isinf(value):
        return "above 1.8e308" if value > 0 else "below -1.8e308"
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e9 else f"{value:.4g}"


def count(weight: float) -> str:
    """Rows, which may be weighted.

    >>> count(1234567.0), count(12.5)
    ('1,234,567', '12.5')
    """
    return f"{weight:,.0f}" if weight == int(weight) else f"{weight:.6g}"
