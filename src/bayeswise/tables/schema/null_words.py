"""Words that mean "missing" in text files: a schema remembers them where they are not the usual ones."""

from __future__ import annotations

from collections.abc import Iterable
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Any

from bayeswise.foundation.errors import ParameterError
from bayeswise.tables.source import DEFAULT_NULL_WORDS, Source, open_source

if TYPE_CHECKING:
    from bayeswise.tables.schema.schema import Schema

MOST_WORDS = 1_000
_BLANKS = " \t\n\v\f\r"
_LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)  # as the kernel compares them


def remembered(words: Iterable[str] | None) -> tuple[str, ...] | None:
    """The words as a schema keeps them, in one order and spelling; None for the usual ones.

    >>> remembered(["X", "-", " x"]), remembered(DEFAULT_NULL_WORDS), remembered([])
    (('-', 'x'), None, ())
    """
    if words is None:
        return None
    plain = _plain(words)
    if len(plain) > MOST_WORDS:
        raise ParameterError(
            f"{len(plain):,} words mean missing; at most {MOST_WORDS:,} can", fix="write missing cells in one way"
        )
    return None if plain == _plain(DEFAULT_NULL_WORDS) else plain


def _plain(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted({word.strip(_BLANKS).translate(_LOWER) for word in words}))


def words_of(schema: Schema | None) -> tuple[str, ...]:
    """The words by which text files are read for a schema; the usual ones as long as there is none."""
    return DEFAULT_NULL_WORDS if schema is None or schema.null_words is None else schema.null_words


def words_among(levels: Iterable[Any] | None, null_words: Iterable[str]) -> tuple[str, ...]:
    """The null words that are levels of a column, where they mean these; an empty cell is always missing.

    >>> words_among(["none", "some"], DEFAULT_NULL_WORDS), words_among(["", 1], DEFAULT_NULL_WORDS)
    (('none',), ())
    """
    if not levels or not null_words:
        return ()
    words = _plain(null_words)
    longest = max(map(len, words))
    spelled = {level.translate(_LOWER) for level in levels if isinstance(level, str) and len(level) <= longest}
    return tuple(word for word in words if word and word in spelled)


def without(null_words: Iterable[str], some: Iterable[str]) -> list[str]:
    """The null words that are left without some of them.

    >>> without(["", "NA", "none"], ["na"])
    ['', 'none']
    """
    left_out = _plain(some)
    return [word for word in null_words if _plain([word])[0] not in left_out]


def open_like(table: Any, schema: Schema | None) -> Source:
    """The source behind a table, its missing cells found as in the table that the schema was made from.

    Delimiter, decimal mark, header and encoding are detected again: they belong to a file, and not to its content.
    """
    return open_source(table, null_words=words_of(schema))


def described(words: Iterable[str] | None) -> str:
    """Words in a sentence.

    >>> described(["x", ""]), described([]), described(None)
    ("'' or 'x'", 'no word', "the usual words ('', '?', 'n/a', 'na', 'nan', 'none', 'null')")
    """
    if words is None:
        return f"the usual words ({', '.join(map(repr, _plain(DEFAULT_NULL_WORDS)))})"
    *others, last = map(repr, _plain(words)) if words else ("no word",)
    return f"{', '.join(others)} or {last}" if others else last
