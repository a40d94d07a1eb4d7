"""Words, strings and marks of BIF and Hugin files; where they stand is worked out only for an error."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NoReturn

from bayeswise.foundation.errors import SourceError

MOST_NODES = 100_000
MOST_STATES = 100_000
MOST_CELLS = 1 << 23

_STRING = r'"(?:[^"\\]++|\\.)*+"'
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_BARE = re.compile(r"[A-Za-z_][A-Za-z0-9_.+<>-]*")


class Tokens:
    """A cursor over the tokens of a text; `marks` are the characters that stand for themselves, `comment` starts one.

    >>> tokens = Tokens('variable "a b" { // why', "x.bif", marks="{}", comment="//")
    >>> tokens.take(), tokens.take(), tokens.take(), tokens.take()
    ('variable', '"a b"', '{', '')
    """

    def __init__(self, text: str, where: str, *, marks: str, comment: str, blocks: bool = True) -> None:
        single, many = re.escape(comment), re.escape(marks)
        starts = f"{single}|/\\*" if blocks else single
        block = r"|/\*(?:.*?\*/|.*)" if blocks else ""
        word = rf"(?:(?!{starts})[^\s\"{many}])+"
        # what has no end is one token up to the end of the text, so that a hostile text is passed over once
        self._pattern = re.compile(rf"{single}[^\n]*{block}|{_STRING}?|[{many}]|{word}", re.DOTALL)
        self._comment = (comment, "/*") if blocks else (comment,)
        self.text, self.where = text, where
        found = self._pattern.findall(text)
        commented = any(start in text for start in self._comment)
        self.tokens: list[str] = [t for t in found if not t.startswith(self._comment)] if commented else found
        self._marks, self._start = marks, 0
        self.position = 0
        self._refuse_unterminated(found)

    def _refuse_unterminated(self, found: list[str]) -> None:
        last = found[-1] if found else ""
        if last.startswith("/*") and "/*" in self._comment and (len(last) < 4 or not last.endswith("*/")):
            self.fail("a comment has no end", at=len(self.text) - len(last), fix="close it")
        if last.startswith('"') and not re.fullmatch(_STRING, last, re.DOTALL):
            self.fail("a text in quotes has no end", at=self.text.rindex(last), fix="close it")

    # -- reading ----------------------------------------------------------------------------------------------
    @property
    def next(self) -> str:
        """The token ahead, empty at the end."""
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        """The token ahead, passed over."""
        token = self.next
        self.position += 1
        return token

    def expect(self, wanted: str) -> None:
        """Pass over a token that must be there."""
        if self.next != wanted:
            self.fail(f"expected {wanted!r}; found {self.next or 'the end of the file'!r}")
        self.position += 1

    def name(self, what: str) -> str:
        """A name, in quotes or not."""
        token = self.next
        if not token or token in self._marks:
            self.fail(f"expected {what}; found {token or 'the end of the file'!r}")
        self.position += 1
        return unquoted(token)

    def until(self, mark: str) -> list[str]:
        """All tokens up to a mark, which is passed over too; commas are left out."""
        try:
            end = self.tokens.index(mark, self.position)
        except ValueError:
            self.fail(f"there is no {mark!r} from here to the end of the file")
        part = self.tokens[self.position : end]
        self._start, self.position = self.position, end + 1
        return [token for token in part if token != ","] if "," in part else part

    def numbers(self, words: list[str]) -> list[float]:
        """The words as numbers."""
        try:
            return list(map(float, words))
        except ValueError:
            bad = next(word for word in words if not _is_number(word))
            self.position = self.tokens.index(bad, self._start if bad in self.tokens[self._start :] else 0)
            self.fail(f"expected a number; found {bad!r}")

    def number(self) -> int:
        """A whole number ahead."""
        token = self.next
        if not (token.isascii() and token.isdigit() and len(token) < 19):
            self.fail(f"expected a whole number; found {token or 'the end of the file'!r}")
        self.position += 1
        return int(token)

    def fail(self, what: str, *, back: int = 0, at: int | None = None, fix: str | None = None) -> NoReturn:
        """An error at the token ahead, or some tokens before it."""
        start = self._offset(self.position - back) if at is None else at
        line = self.text.count("\n", 0, start) + 1
        column = start - (self.text.rfind("\n", 0, start) + 1) + 1
        raise SourceError(f"{self.where}, line {line}, column {column}: {what}", fix=fix)

    def _offset(self, position: int) -> int:
        k = 0
        for match in self._pattern.finditer(self.text):
            if match.group().startswith(self._comment):
                continue
            if k == position:
                return match.start()
            k += 1
        return len(self.text)


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def unquoted(token: str) -> str:
    r"""The name that a token stands for.

    >>> unquoted(r'"say \"yes\""')
    'say "yes"'
    """
    if token[:1] != '"':
        return token
    inside = token[1:-1]
    return _ESCAPED.sub(r"\1", inside) if "\\" in inside else inside


def quoted(name: object, always: bool = False) -> str:
    """The token that stands for a name: itself where it is a plain word, else in quotes.

    >>> quoted("yes"), quoted("Asy/Patch")
    ('yes', '"Asy/Patch"')
    """
    word = str(name)
    if not always and _BARE.fullmatch(word):
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def refuse_empty(names: Collection[str], where: str) -> None:
    """A file without a node is no network."""
    if not names:
        raise SourceError(f"{where} describes no node", fix="give a file that holds a network")
