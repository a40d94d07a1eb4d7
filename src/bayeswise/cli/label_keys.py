"""One key for each class and each command: from a terminal a key at a time, from a pipe a line at a time."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bayeswise.foundation.errors import DataError
from bayeswise.posteriors.wording import shown
from bayeswise.tables.labels import Label

SKIP, UNKNOWN, UNDO, NEW, WHY, QUIT, TYPED = "s", "d", "u", "n", "w", "q", "/"
COMMANDS = {
    SKIP: "skip",
    UNKNOWN: "don't know",
    UNDO: "undo",
    NEW: "new class",
    WHY: "why",
    QUIT: "quit",
}
_KEYS = "123456789" + "".join(letter for letter in "abcdefghijklmnopqrstuvwxyz" if letter not in COMMANDS)
_LONGEST = 1 << 16


@dataclass(frozen=True)
class Keys:
    """Which key means which class.

    >>> keys = Keys.of(["ham", "spam"])
    >>> keys.meaning("2"), keys.meaning("ham"), keys.meaning("u"), keys.meaning("x")
    (('class', 'spam'), ('class', 'ham'), ('command', 'u'), None)
    >>> print(keys.line())
    [1] ham  [2] spam   [s] skip  [d] don't know  [u] undo  [n] new class  [w] why  [q] quit
    """

    classes: Mapping[str, Label]
    without: Sequence[Label] = ()  # classes beyond the keys, to be typed in full

    @classmethod
    def of(cls, classes: Sequence[Label]) -> Keys:
        return cls(dict(zip(_KEYS, classes, strict=False)), classes[len(_KEYS) :])

    def meaning(self, typed: str) -> tuple[str, Label] | None:
        """A key, or the whole name of a class; keys come first."""
        if typed in COMMANDS or typed == TYPED:
            return "command", typed
        if typed in self.classes:
            return "class", self.classes[typed]
        by_name = {str(label): label for label in [*self.without, *self.classes.values()]}
        return ("class", by_name[typed]) if typed in by_name else None

    def line(self) -> str:
        """What can be pressed."""
        keys = "  ".join(f"[{key}] {shown(label, 30)}" for key, label in self.classes.items())
        more = f"  [{TYPED}] {len(self.without)} more, by name" if self.without else ""
        return f"{keys}{more}   " + "  ".join(f"[{key}] {word}" for key, word in COMMANDS.items())


class Answers:
    """Where answers come from; None when there are no more."""

    def __init__(self) -> None:
        self.is_terminal = sys.stdin is not None and sys.stdin.isatty()

    def key(self, keys: Keys) -> str | None:
        """One key of a terminal; one line of a pipe."""
        if not self.is_terminal:
            return self.line()
        typed = _key()
        return self.line() if typed == TYPED and keys.without else typed

    def line(self) -> str | None:
        """One line, without its end."""
        if sys.stdin is None:
            return None
        line = sys.stdin.buffer.readline(_LONGEST)
        if not line:
            return None
        try:
            return line.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise DataError(f"the answer {line[:40]!r} is no UTF-8", fix="write the answers as UTF-8") from None


def _key() -> str | None:
    """The next key, without waiting for the end of a line; None for the end of the input (Ctrl-D).

    Keys that were pressed before the case was shown do not count: nobody can have meant it.
    """
    if sys.platform == "win32":
        import msvcrt

        key = msvcrt.getwch()
        if key == "\x03":
            raise KeyboardInterrupt
        return None if key == "\x1a" else key
    import termios
    import tty

    number = sys.stdin.fileno()
    before = termios.tcgetattr(number)
    try:
        tty.setcbreak(number, termios.TCSAFLUSH)
        typed = _letter(number)
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(number, termios.TCSADRAIN, before)
    return None if typed in ("", "\x04") else typed


def _letter(number: int) -> str:
    """One letter in UTF-8, however many bytes; a key that sends a sequence (an arrow) is one unknown key."""
    import os
    import select

    data = os.read(number, 1)
    while data and (data[0] >= 0x80 or data == b"\x1b" or len(data) > 1):
        ready, _, _ = select.select([number], [], [], 0.02)
        if not ready or len(data) > 16:
            break
        data += os.read(number, 1)
    return data.decode("utf-8", "replace")
