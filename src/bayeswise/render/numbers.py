"""Numbers for a reader: a few digits, large amounts in full, shares in per cent, intervals, counts of rows."""

from __future__ import annotations

import numpy as np


def number(value: float, digits: int = 4, *, signed: bool = False) -> str:
    """So many digits, large amounts in full; sums that no number holds are said to be so.

    >>> number(42540.0), number(-0.123456), number(1e12), number(250), number(-np.inf)
    ('42,540', '-0.1235', '1e+12', '250', 'below -1.8e308')
    >>> number(0.123456, 2), number(0.5, signed=True)
    ('0.12', '+0.5')
    """
    if np.isinf(value):
        return "above 1.8e308" if value > 0 else "below -1.8e308"
    sign = "+" if signed else ""
    whole = 1e3 <= abs(value) < 1e9 and (digits <= 4 or value == int(value))
    return f"{value:{sign},.0f}" if whole else f"{value:{sign}.{digits}g}"


def interval(low: float, high: float, digits: int = 4) -> str:
    """Where a number lies.

    >>> interval(0.00631, 0.806)
    '0.00631 to 0.806'
    """
    return f"{number(low, digits)} to {number(high, digits)}"


def percent(share: float) -> str:
    """A share in per cent: what there is is never shown as 0, what is not all never as 100.

    >>> percent(0.0), percent(0.00001), percent(0.1234), percent(0.99999), percent(1.0)
    ('0 %', '<0.1 %', '12.3 %', '>99.9 %', '100 %')
    """
    if share in (0.0, 1.0):
        return f"{share * 100:.0f} %"
    if share < 0.0005:
        return "<0.1 %"
    return ">99.9 %" if share > 0.9995 else f"{share * 100:.1f} %"


def count(weight: float) -> str:
    """Rows, which may be weighted.

    >>> count(1234567.0), count(12.5)
    ('1,234,567', '12.5')
    """
    return f"{weight:,.0f}" if weight == int(weight) else f"{weight:.6g}"
