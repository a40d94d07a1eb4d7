"""Numbers as they were typed: '.004' is 1/250, not the double beside it."""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction
from numbers import Rational
from typing import TypeAlias

from bayeswise.foundation.errors import ParameterError, UsageError

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


def fraction_text(number: Fraction) -> str:
    """The number as a ratio, of any length.

    >>> fraction_text(Fraction(125, 611)), fraction_text(Fraction(1))
    ('125/611', '1')
    """
    # str(int) refuses more than 4300 digits; a decimal does not
    top, bottom = (f"{Decimal(part):f}" for part in (number.numerator, number.denominator))
    return top if bottom == "1" else f"{top}/{bottom}"


def decimal_text(number: Fraction, digits: int = 6) -> str:
    """The number with up to so many significant digits, of any size.

    >>> decimal_text(Fraction(8, 257)), decimal_text(Fraction(1, 250)), decimal_text(Fraction(1, 10**400))
    ('0.0311284', '0.004', '1E-400')
    """
    context = _SHOWN.copy()
    context.prec = digits
    quotient = context.divide(Decimal(number.numerator), Decimal(number.denominator)).normalize(context)
    return f"{quotient:f}" if -8 <= quotient.adjusted() < digits else str(quotient)
