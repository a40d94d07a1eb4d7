"""Names of columns: known up to Unicode form and blanks around them, and guessed when mistyped."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from bayeswise.foundation.errors import MissingColumnError, SchemaError
from bayeswise.render.labels import closest, guess

_PLAIN_NAMES = re.compile(r"[!-~](?:[ -~]*[!-~])?(?:\n[!-~](?:[ -~]*[!-~])?)*")  # ASCII, no blanks around


NAMELESS = "Unnamed: 0"
"""What the first column of a file is called whose header is empty there, in pandas, too: an index that was saved."""


def with_index_named(names: Sequence[str]) -> list[str]:
    """The names of a header, the first one given if it alone is empty.

    >>> with_index_named(["", "age", "y"]), with_index_named(["", "", "y"]), with_index_named(["a", ""])
    (['Unnamed: 0', 'age', 'y'], ['', '', 'y'], ['a', ''])
    """
    first, *others = names or [""]
    is_clear = not first and others and all(others) and NAMELESS not in others
    return [NAMELESS, *others] if is_clear else list(names)


def normal_name(name: str) -> str:
    """What a name is compared by: NFC, without blanks around it.

    >>> normal_name(" cafe\\u0301 ") == normal_name("café")
    True
    """
    return unicodedata.normalize("NFC", name).strip()


def are_plain(names: Sequence[str]) -> bool:
    """Whether the names are ASCII without blanks around and all differ: thousands of them are checked at once.

    >>> are_plain(["x0", "x1"]), are_plain(["x0", "x0"]), are_plain(["x0", " x1"]), are_plain(["x0", ""])
    (True, False, False, False)
    """
    return len(set(names)) == len(names) and _PLAIN_NAMES.fullmatch("\n".join(names)) is not None


def check_name(name: str) -> None:
    if not isinstance(name, str) or not normal_name(name):
        raise SchemaError(f"a column must have a name; found {name!r}", fix="name the column")


def check_names(names: Sequence[Any]) -> None:
    """Refuse names that are not text or are blank; thousands of plain ones are checked at once."""
    if not set(map(type, names)) <= {str} or not are_plain(names):
        for name in names:
            check_name(name)


def refuse_twin(name: str, seen: Mapping[str, str]) -> None:
    """Two names that read the same are an error."""
    if normal_name(name) in seen:
        raise SchemaError(
            f"the columns {seen[normal_name(name)]!r} and {name!r} have one name", fix="rename one of them"
        )


def find_name(
    name: str, among: Iterable[str], *, where: str, role: str = "column", needed: str = "", fix: str | None = None
) -> str:
    """The name as the table writes it, or an error that guesses what was meant; else it says `fix`.

    `needed` goes on with the sentence: ", which the model looks at".

    >>> find_name("play ", ["outlook", "play"], where="golf.csv")
    'play'
    """
    names = list(among)
    if name in names:
        return name
    same = [known for known in names if normal_name(known) == normal_name(name)]
    if same:
        return same[0]
    if closest(name, names) is not None or fix is None:
        fix = guess(name, names) if names else "give a table with columns"
    raise MissingColumnError(f"{where} has no {role} {name!r}{needed}", fix=fix)


def free_name(names: Sequence[str], taken: set[str], key: Callable[[str], str] = normal_name) -> str:
    """The first name that is not taken, the last one numbered if need be; it is taken from now on.

    >>> free_name(["play", "predicted"], {"play"}), free_name(["action"], {"action", "action_2"})
    ('predicted', 'action_3')
    """
    numbered = (f"{names[-1]}_{k}" for k in range(2, len(taken) + 3))
    name = next(name for name in (*names, *numbered) if key(name) not in taken)
    taken.add(key(name))
    return name
