"""One key for each class and each command: from a terminal a key at a time, from a pipe a line at a time."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from bayeswise.foundation.dataclass import dataclass
from bayeswise.foundation.errors import DataError
from bayeswise.render.labels import shown
from bayeswise.render.terminal import folded
from bayeswise.tables.schema.labels import Label

SKIP, UNKNOWN, UNDO, NEW, WHY, QUIT, TYPED = "s", "d", "u", "n", "w", "q", "/"
COMMANDS = {
    SKIP: "skip",
    UNKNOWN: "don't know",
    UNDO: "undo",
    NEW: "new class",
    WHY: "why",
    QUIT: "quit",
}
_DIGITS, _LETTERS = "123456789", "abcdefghijklmnopqrstuvwxyz"
_SPARE_KEYS = "!#%&*+-.:;=@_~"
_LONGEST = 1 << 16


@dataclass(frozen=True)
class Keys:
    """Which key means which class; the name of a class means it, too, so that no other class or command has that key.

    >>> keys = Keys.of(["ham", "spam"])
    >>> keys.meaning("2"), keys.meaning("ham"), keys.meaning("u"), keys.meaning("x")
    (('class', 'spam'), ('class', 'ham'), ('command', 'u'), None)
    >>> print(keys.line())
    [1] ham  [2] spam   [s] skip  [d] don't know  [u] undo  [n] new class  [w] why  [q] quit
    >>> print(Keys.of([0, 1, "s"]).line())
    [0] 0  [1] 1  [2] s   [S] skip  [d] don't know  [u] undo  [n] new class  [w] why  [q] quit
    """

    classes: Mapping[str, Label]
    commands: Mapping[str, str]
    without: Sequence[Label] = ()  # classes beyond the keys, to be typed in full

    @classmethod
    def of(cls, classes: Sequence[Label]) -> Keys:
        names = {str(label) for label in classes if _is_key(str(label))}
        commands: dict[str, str] = {}
        for command in COMMANDS:
            commands[_first_free((command, command.upper(), *_SPARE_KEYS), {*names, *commands})] = command
        digits, letters = (
            iter([k for k in keys if k not in names and k not in commands]) for keys in (_DIGITS, _LETTERS)
        )
        keys = {label: _key_of(str(label), names, digits, letters) for label in classes}
        return cls(
            {key: label for label, key in keys.items() if key is not None},
            commands,
            [label for label, key in keys.items() if key is None],
        )

    def meaning(self, typed: str) -> tuple[str, Label] | None:
        """A key, or the whole name of a class; no key of one class is the name of another."""
        if typed in self.commands or typed == TYPED:
            return "command", self.commands.get(typed, typed)
        if typed in self.classes:
            return "class", self.classes[typed]
        by_name = {str(label): label for label in [*self.without, *self.classes.values()]}
        return ("class", by_name[typed]) if typed in by_name else None

    def line(self) -> str:
        """What can be pressed."""
        return "  ".join(self._of_classes()) + "   " + "  ".join(self._of_commands())

    def lines(self, width: int) -> list[str]:
        """The same in lines of at most `width` cells: the classes, then the commands."""
        return [*folded(self._of_classes(), width), *folded(self._of_commands(), width)]

    def _of_classes(self) -> list[str]:
        more = [f"[{TYPED}] {len(self.without)} more, by name"] if self.without else []
        return [f"[{key}] {shown(label, 30)}" for key, label in self.classes.items()] + more

    def _of_commands(self) -> list[str]:
        return [f"[{key}] {COMMANDS[command]}" for key, command in self.commands.items()]


def _is_key(name: str) -> bool:
    """Whether the name of a class is a key that every keyboard has."""
    return len(name) == 1 and name.isascii() and name.isalnum()


def _key_of(name: str, names: set[str], digits: Iterator[str], letters: Iterator[str]) -> str | None:
    """A digit is its own key; any other class has the next digit, or else its own letter, or the next one."""
    if name.isdigit() and name in names:
        return name
    return next(digits, None) or (name if name in names else next(letters, None))


def _first_free(keys: Iterable[str], taken: set[str]) -> str:
    return next(key for key in keys if key not in taken)


class Answers:
    """Where answers come from; None when there are no more."""

    def __init__(self) -> None:
        self.is_terminal = sys.stdin is not None and sys.stdin.isatty()

    def key(self, keys: Keys) -> str | None:
        """One key of a terminal; one line of a pipe."""
        if not self.is_terminal:
            return self.line()
        typed = _key()
        return self.named("Name of the class:") if typed == TYPED and keys.without else typed

    def named(self, question: str) -> str | None:
        """A line that answers a question."""
        print(question, file=sys.stderr, flush=True)
        return self.line()

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
            raise DataError(f"the answer {line[:40]!r} is not UTF-8", fix="write the answers as UTF-8") from None


def _key() -> str | None:
    """The next key, without waiting for the end of a line; None for the end of the input (Ctrl-D).

    Keys that were pressed before the case was shown do not count: they cannot be meant for it.
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
