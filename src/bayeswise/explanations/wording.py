"""Weights, factors and values in words, the same in text, HTML and pictures."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from bayeswise.posteriors.normalise import odds_of
from bayeswise.render.labels import shown

if TYPE_CHECKING:
    from bayeswise.explanations.account import Account


def remarks_of(account: Account) -> list[str]:
    """The title of the case, and the convention by which it was computed."""
    return [remark for remark in (account.title, account.convention) if remark]


def value_text(value: Any, note: str = "") -> str:
    """The value, with its note if there is one; a missing one is a question mark.

    >>> value_text("sunny"), value_text(None, "missing: skipped")
    ('sunny', '? (missing: skipped)')
    """
    missing = value is None or (isinstance(value, float) and math.isnan(value))
    text = "?" if missing else shown(value)
    return f"{text} ({note})" if note else text


def weight_text(log_ratio: float) -> str:
    """The weight with its sign.

    >>> weight_text(0.9933), weight_text(-math.inf)
    ('+0.99', '-∞')
    """
    if math.isinf(log_ratio):
        return "+∞" if log_ratio > 0 else "-∞"
    return f"{log_ratio:+.2f}"


def factor_text(log_ratio: float) -> str:
    """What the odds are multiplied by, in three digits.

    >>> factor_text(math.log(2.7)), factor_text(7.507), factor_text(28.8), factor_text(-math.inf)
    ('× 2.7', '× 1,821', '× 3.2e12', '× 0')
    """
    factor = odds_of(log_ratio)
    if log_ratio == -math.inf or math.isinf(factor):
        return "× 0" if log_ratio < 0 else "× ∞"
    if factor < 1e-99:
        return "× < 1e-99"
    if 1e3 <= factor < 1e6:
        return f"× {factor:,.0f}"
    return f"× {factor:.2g}".replace("e+", "e") if factor >= 1e6 else f"× {factor:.3g}"
