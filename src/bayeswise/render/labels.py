"""Labels that fit into a line of text, whatever they contain."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from difflib import get_close_matches
from typing import TypeAlias, TypeVar

from bayeswise.foundation.errors import BayeswiseError, ParameterError, listed

Value = TypeVar("Value")
Label: TypeAlias = str | int | float | bool  # what a state or a level is called

_INVISIBLE = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
_JOINERS = "\u200d\u200c"  # emoji and several scripts are written with them
# control characters, halves of surrogate pairs and two more that XML forbids
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def shown(label: object, width: int | None = None) -> str:
    """The label in one line: control characters escaped, cut to `width` cells of the terminal.

    >>> shown("two\\nlines"), shown("a very long name", width=8)
    ('two\\\\nlines', 'a very…')
    """
    text = f"{label:.6g}" if isinstance(label, float) else str(label)
    if width is not None and len(text) > 4 * width:
        text = text[: 4 * width]
    line = "".join(map(_visible, text))
    return line if width is None else shortened(line, width)


def quoted(label: object, width: int = 24) -> str:
    """The label, plain where that is clear, in quotes where blanks or control characters matter.

    >>> quoted("sunny"), quoted(" a"), quoted(""), quoted(3)
    ('sunny', "' a'", "''", '3')
    """
    if not isinstance(label, str):
        return f"{label:g}" if isinstance(label, float) else str(label)
    text = label if len(label) <= width else label[: width - 1] + "…"
    visible = text.translate(dict.fromkeys(map(ord, _JOINERS)))
    return text if visible.isprintable() and text == text.strip() != "" else repr(text)


def shortened(line: str, width: int) -> str:
    """Cut to `width` cells, with an ellipsis if something is cut off; wide characters take two."""
    from rich.cells import cell_len, set_cell_size

    return line if cell_len(line) <= width else set_cell_size(line, width - 1).rstrip() + "…"


def probability_names(classes: Sequence[object]) -> list[str]:
    """p_CLASS, with the class as Python writes it where two would read the same.

    >>> probability_names(["no", "yes"]), probability_names([1, "1"])
    (['p_no', 'p_yes'], ['p_1', "p_'1'"])
    """
    names = [f"p_{label}" for label in classes]
    return names if len(set(names)) == len(names) else [f"p_{label!r}" for label in classes]


def distinct_texts(labels: Sequence[object]) -> list[str]:
    """Each label as text; those that would look alike, such as 1 and '1', as they are written in Python.

    >>> distinct_texts([1, "1", "a"])
    ['1', "'1'", 'a']
    """
    texts = [str(label) for label in labels]
    twice = {text for text, n in Counter(texts).items() if n > 1}
    found = [repr(label) if text in twice else text for label, text in zip(labels, texts, strict=True)]
    return found if len(set(found)) == len(found) else [repr(label) for label in labels]


def keyed(pairs: Iterable[tuple[object, Value]]) -> dict[str, Value]:
    """What belongs to each label, by its text; labels with equal texts are quoted.

    >>> keyed((("no", 5), ("yes", 9))), keyed(((1, 2), ("1", 3)))
    ({'no': 5, 'yes': 9}, {'1': 2, "'1'": 3})
    """
    found = list(pairs)
    return dict(zip(distinct_texts([label for label, _ in found]), (value for _, value in found), strict=True))


def padded(line: str, width: int, *, right: bool = False) -> str:
    """Padded with blanks to `width` cells, on the left if the text is right-aligned."""
    from rich.cells import cell_len

    blanks = " " * max(0, width - cell_len(line))
    return blanks + line if right else line + blanks


def allowed(text: str) -> str:
    """The text without characters that files of text do not hold."""
    return _FORBIDDEN.sub("\ufffd", text)


def markup(text: str) -> str:
    """The text for SVG and HTML: marks escaped, characters that XML forbids replaced.

    >>> markup('<script>"&\\x00')
    '&lt;script&gt;&quot;&amp;\ufffd'
    """
    from html import escape  # with a table of all entities

    return escape(allowed(text))


def _visible(character: str) -> str:
    hidden = unicodedata.category(character) in _INVISIBLE and character not in _JOINERS
    return character.encode("unicode_escape").decode() if hidden else character


def is_broken(text: str) -> bool:
    """Whether it has half of a surrogate pair, which no encoding writes.

    >>> is_broken("café"), is_broken(chr(0xD800))
    (False, True)
    """
    return any("\ud800" <= character <= "\udfff" for character in text)


def closest(label: object, among: Iterable[Value]) -> Value | None:
    """The one whose text is most alike, whatever its case; None if none is.

    >>> closest("spam ", ["Spam", "ham"])
    'Spam'
    """
    by_fold = {str(known).casefold(): known for known in among}
    return next((by_fold[text] for text in get_close_matches(str(label).casefold(), by_fold, n=1)), None)


def with_article(noun: str) -> str:
    """The noun after a or an.

    >>> with_article("auto model"), with_article("state")
    ('an auto model', 'a state')
    """
    return f"{'an' if noun[:1].lower() in set('aeiou') else 'a'} {noun}"


def guess(label: object, among: Sequence[object]) -> str:
    """What to type instead: the closest label, or the list of them.

    >>> guess("1", [0, 1])
    'did you mean 1 (int, not str)?'
    """
    meant = closest(label, among)
    if meant is None:
        return f"choose one of {listed(map(repr, among))}"
    kinds = "" if type(meant) is type(label) else f" ({type(meant).__name__}, not {type(label).__name__})"
    return f"did you mean {meant!r}{kinds}?"


def refuse_unknown(
    label: object, known: Collection[object], what: str, error: type[BayeswiseError] = ParameterError
) -> None:
    """An error about a label that is not known, with what to type instead; `what` is the sentence before the label.

    >>> refuse_unknown("rian", ["sun", "rain"], "there is no weather")
    Traceback (most recent call last):
    bayeswise.foundation.errors.ParameterError: there is no weather 'rian'. Fix: did you mean 'rain'?
    """
    if label not in known:
        raise error(f"{what} {label!r}", fix=guess(label, list(known)))
