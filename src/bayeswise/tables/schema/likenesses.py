"""Cells, labels and names that look like something else: numbers with separators, one label written in two ways, a row
in the place of names. Only the distinct values of a column are examined, never its cells.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import pairwise

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import listed
from bayeswise.render.labels import Label, quoted
from bayeswise.render.numbers import reads_as_number
from bayeswise.tables.schema.profile import ColumnProfile

_CURRENCY = r"(?:[$€£¥₹]|USD|EUR|GBP|CHF)"
_GROUPED = r"\d{1,3}(?:[.,'’ \u00a0\u202f]\d{3})+"
_FORMATTED = re.compile(
    rf"(?P<currency>{_CURRENCY})?\s*[+-]?\s*(?P<left>{_CURRENCY})?\s*"
    rf"(?:(?P<grouped>{_GROUPED}(?:[.,]\d*)?)|\d+(?:[.,]\d*)?|[.,]\d+)\s*(?P<percent>%)?(?P<right>{_CURRENCY})?"
)


# -- numbers with thousands separators, a percent sign or a currency sign ---------------------------------------
@dataclass(frozen=True)
class FormattedNumbers:
    """Numbers that are written for people; what is odd about them, an example, and how a number is read here."""

    oddity: str
    example: str
    plain: str

    @property
    def what(self) -> str:
        return f"the cells look like numbers with {self.oddity} ({self.example})"

    @property
    def fix(self) -> str:
        return f"to have numbers, write {self.plain} for {self.example}"


def formatted_numbers(column: ColumnProfile) -> FormattedNumbers | None:
    """What is odd about a column of text whose values all look like numbers; None where some do not."""
    if not column.invalid or column.storage not in ("text", "object"):
        return None
    example = column.invalid_examples[0].text.strip() if column.invalid_examples else ""
    if not _FORMATTED.fullmatch(example):
        return None
    levels = (level for level, _ in column.levels)
    if not all(_FORMATTED.fullmatch(level.strip()) for level in levels if isinstance(level, str)):
        return None
    return formatted_number(example)


def formatted_number(text: str) -> FormattedNumbers | None:
    """What is odd about one cell.

    >>> formatted_number("€ 1,200.50"), formatted_number("x")
    (FormattedNumbers(oddity='a currency sign', example='€ 1,200.50', plain='1200.50'), None)
    >>> [formatted_number(text).plain for text in ("2.648,06", "2,648", "1'000.5", "66.5%", "-1 234 567", "12,5")]
    ['2648.06', '2648', '1000.5', '66.5', '-1234567', '12.5']
    """
    found = _FORMATTED.fullmatch(text)
    if found is None:
        return None
    oddity = "a decimal comma"
    if found["currency"] or found["left"] or found["right"]:
        oddity = "a currency sign"
    elif found["percent"]:
        oddity = "a percent sign"
    elif found["grouped"]:
        oddity = "thousands separators"
    return FormattedNumbers(oddity, text, _plain_number(text))


def _plain_number(text: str) -> str:
    digits = re.sub(r"[^\d.,+-]", "", text)
    marks = re.findall(r"[.,]", digits)
    is_fraction = len(set(marks)) == 2 or (len(marks) == 1 and not re.search(r"\d[.,]\d{3}$", digits))
    whole, fraction = re.split(r"[.,](?=[^.,]*$)", digits) if marks and is_fraction else (digits, "")
    whole = re.sub(r"[.,]", "", whole)
    return f"{whole}.{fraction}" if fraction else whole


# -- a word for missing values ----------------------------------------------------------------------------------
def placeholder(column: ColumnProfile, null_words: Sequence[str]) -> str:
    """How to say that the only word among numbers means missing; "" unless there is one such word."""
    words = {example.text.strip() for example in column.invalid_examples}
    word = words.pop() if len(words) == 1 else ""
    count = sum(count for level, count in column.levels if isinstance(level, str) and level.strip() == word)
    if not word or count != column.invalid or not word.isprintable() or set(word) & set("()[]{}'\""):
        return ""
    every = [*null_words, word]
    typed = " ".join(f"--null {shlex.quote(each)}" for each in every)
    return f"if {quoted(word)} means missing, null_words={every!r} ({typed})"


# -- one label written in two ways ------------------------------------------------------------------------------
def nearly_equal(labels: Iterable[Label]) -> list[tuple[str, str]]:
    """Pairs of texts that differ only by blanks around them, case, or the way their letters are composed.

    >>> nearly_equal(["Rom", "Berlin", "Berlin ", "berlin", "N", "n", 3])
    [('Berlin', 'Berlin '), ('Berlin', 'berlin'), ('N', 'n')]
    """
    first: dict[str, str] = {}
    pairs = []
    for label in labels:
        if isinstance(label, str):
            plain = unicodedata.normalize("NFC", label.strip()).casefold()
            other = first.setdefault(plain, label)
            if other is not label:
                pairs.append((other, label))
    return pairs


def two_spellings(column: ColumnProfile) -> str:
    """Which labels of a column differ only by blanks, case or composition; "" if none."""
    pairs = nearly_equal(sorted((level for level, _ in column.levels if isinstance(level, str)), key=str))
    shown = [f"{quoted(one)} and {quoted(other)}" for one, other in pairs]
    return f"labels differ only by blanks or case: {listed(shown, 2)}" if pairs else ""


# -- a row in the place of names --------------------------------------------------------------------------------
def names_that_are_numbers(names: Iterable[str]) -> list[str]:
    """Those of the names that read as numbers; none where all of these are consecutive years.

    >>> names_that_are_numbers(["1", "2.5", "Y"]), names_that_are_numbers(["country", "1999", "2000"])
    (['1', '2.5'], [])
    """
    found = [name for name in names if name[-1:].isdigit() and reads_as_number(name.replace(",", "."))]
    years = [int(name) for name in found if name.isdecimal() and 1500 <= int(name[:5]) <= 2200 and len(name) == 4]
    are_years = len(years) == len(found) > 1 and all(later - year == 1 for year, later in pairwise(years))
    return [] if are_years else found
