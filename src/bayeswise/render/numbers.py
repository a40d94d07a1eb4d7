"""Numbers for a reader: a few digits, shares in per cent, intervals, counts; and numbers as they were typed."""

from __future__ import annotations

import math
import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from numbers import Rational
from typing import TypeAlias

from bayeswise.foundation.errors import ParameterError, UsageError


def number(value: float, digits: int = 4, *, signed: bool = False) -> str:
    """The number to `digits` significant digits, large amounts in full; overflow as "above 1.8e308".

    >>> number(42540.0), number(-0.123456), number(1e12), number(250), number(-math.inf)
    ('42,540', '-0.1235', '1e+12', '250', 'below -1.8e308')
    >>> number(0.123456, 2), number(0.5, signed=True)
    ('0.12', '+0.5')
    """
    if math.isinf(value):
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


def probability(p: float, digits: int = 3) -> str:
    """A probability; one that is not certain is never shown as 1.

    >>> probability(0.12345), probability(1 - 2e-7), probability(1.0)
    ('0.123', '1 - 2e-7', '1')
    """
    text = f"{p:.{digits}g}"
    return f"1 - {1 - p:.1g}".replace("e-0", "e-") if text == "1" and p < 1.0 else text


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


def plural(n: int, noun: str) -> str:
    """How many there are.

    >>> plural(1, "edge"), plural(1200, "edge")
    ('1 edge', '1,200 edges')
    """
    return f"{n:,} {noun}{'s' * (n != 1)}"


Number: TypeAlias = str | int | float | Fraction | Decimal

_LONGEST = 100  # characters; '1e999999999' would fill the memory
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?(%?)")
_RATIO = re.compile(r"[+-]?[0-9]+/[0-9]*[1-9][0-9]*")
_SHOWN = Context(prec=6, Emin=MIN_EMIN, Emax=MAX_EMAX)


def exact(value: Number, what: str, error: type[UsageError] = ParameterError) -> Fraction:
    """The rational number that was typed: a text or a float stands for its decimal digits.

    >>> exact(".004", "prior"), exact("1/250", "prior"), exact(0.004, "prior"), exact("0.4%", "prior")
    (Fraction(1, 250), Fraction(1, 250), Fraction(1, 250), Fraction(1, 250))
    """
    if isinstance(value, Rational) and not isinstance(value, bool):
        return Fraction(int(value.numerator), int(value.denominator))
    text = str(value).strip()
    decimal = _DECIMAL.fullmatch(text) if len(text) <= _LONGEST else None
    if decimal:
        return Fraction(text.removesuffix("%")) / (100 if decimal[1] else 1)
    if _RATIO.fullmatch(text) and len(text) <= _LONGEST:
        return Fraction(text)
    shown = text if len(text) <= _LONGEST else f"{text[:20]}... ({len(text)} characters)"
    raise error(f"{what} must be a number; found {shown!r}", fix="write it as .004, 1/250, 0.4% or 4e-3")


def reads_as_number(label: str | float) -> bool:
    """Whether a number can be made of a label or a word.

    >>> reads_as_number("1e3"), reads_as_number("inf"), reads_as_number("12k"), reads_as_number("")
    (True, True, False, False)
    """
    try:
        float(label)
    except ValueError:
        return False
    return True


def fraction_text(number: Fraction) -> str:
    """The number as a ratio, of any length.

    >>> fraction_text(Fraction(125, 611)), fraction_text(Fraction(1))
    ('125/611', '1')
    """
    # str(int) refuses more than 4300 digits; a decimal does not
    top, bottom = (f"{Decimal(part):f}" for part in (number.numerator, number.denominator))
    return top if bottom == "1" else f"{top}/{bottom}"


def decimal_text(number: Fraction, digits: int = 6) -> str:
    """The number with up to `digits` significant digits, of any size.

    >>> decimal_text(Fraction(8, 257)), decimal_text(Fraction(1, 250)), decimal_text(Fraction(1, 10**400))
    ('0.0311284', '0.004', '1E-400')
    """
    context = _SHOWN.copy()
    context.prec = digits
    quotient = context.divide(Decimal(number.numerator), Decimal(number.denominator)).normalize(context)
    return f"{quotient:f}" if -8 <= quotient.adjusted() < digits else str(quotient)
