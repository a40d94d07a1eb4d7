"""Finding a state by its label, and guessing which one was meant."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from bayeswise.foundation.errors import ParameterError, SchemaError, UsageError
from bayeswise.tables.labels import Label, Vocabulary, label_key, label_of

_SHOWN = 8


def find_state(
    label: object,
    states: Sequence[Label],
    *,
    what: str = "there is no state",
    error: type[UsageError] = ParameterError,
) -> int:
    """The position of a label among the states, or an error that guesses what was meant.

    >>> find_state("ham", ["spam", "ham"])
    1
    >>> find_state("Ham", ["spam", "ham"])
    Traceback (most recent call last):
    bayeswise.foundation.errors.ParameterError: there is no state 'Ham'. Fix: did you mean 'ham'?
    """
    try:
        key = label_key(label_of(label))
    except SchemaError:
        key = None
    if isinstance(states, Vocabulary):  # which knows them by heart, be they a million
        if key is not None and (code := states.code_of_equal(label)) >= 0:
            return code
    else:
        keys = [label_key(state) for state in states]
        if key in keys:
            return keys.index(key)
        if key is not None and (code := Vocabulary.trusted(tuple(states)).code_of_equal(label)) >= 0:
            return code
    raise error(f"{what} {label!r}", fix=guess(label, states))


def guess(label: object, among: Sequence[Label]) -> str:
    """What to type instead: the closest label, or the list of them.

    >>> guess("1", [0, 1])
    'did you mean 1 (int, not str)?'
    """
    by_fold = {str(known).casefold(): known for known in among}
    close = get_close_matches(str(label).casefold(), by_fold, n=1, cutoff=0.6)
    if not close:
        shown = ", ".join(map(repr, among[:_SHOWN])) + (", ..." if len(among) > _SHOWN else "")
        return f"name one of {shown}"
    meant = by_fold[close[0]]
    kinds = "" if type(meant) is type(label) else f" ({type(meant).__name__}, not {type(label).__name__})"
    return f"did you mean {meant!r}{kinds}?"
