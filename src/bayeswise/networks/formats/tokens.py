"""Tokenizer of BIF, Hugin and Netica files: words, strings and marks; positions are computed only for errors."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NoReturn

from bayeswise.foundation.errors import SourceError
from bayeswise.render.numbers import reads_as_number

MOST_NODES = 100_000
MOST_STATES = 100_000
MOST_CELLS = 1 << 23

_PIECE = 1 << 18  # characters that are tokenized at once
_LONGEST_NAME = 100_000
_MOST_PASSED = 100_000  # consumed tokens that are kept
_MOST_TOGETHER = 4 * MOST_CELLS  # tokens of one statement

_STRING = r'"(?:[^"\\]++|\\.)*+"'
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_KEYWORDS = ("network", "variable", "probability", "property", "type", "discrete", "default", "table")
_NOT_BARE = re.compile(r"[\s,\"\\{}()\[\];|]|//|/\*")  # what ends a word in BIF, or begins a comment


class Tokens:
    """A cursor over the tokens of a text; `marks` are single-character tokens, `comment` starts a comment.

    Commas count as blanks: no table needs them, and they are half of a file's tokens.

    The text is tokenized piece by piece as it is read, so that a wrong file fails early; consumed tokens are dropped.

    >>> tokens = Tokens('variable "a b" { // why', "x.bif", marks="{}", comment="//")
    >>> tokens.take(), tokens.take(), tokens.take(), tokens.take()
    ('variable', '"a b"', '{', '')
    """

    def __init__(self, text: str, where: str, *, marks: str, comment: str, blocks: bool = True) -> None:
        single, many, first = re.escape(comment), re.escape(marks), re.escape(comment[0])
        starts = f"{single}|/\\*" if blocks else single
        block = r"|/\*(?:.*?\*/|.*)" if blocks else ""
        word = rf"(?:[^\s,\"{many}{first}]++|(?!{starts}){first})++"
        # an unterminated string or comment is a token up to the end of the piece, so hostile text is scanned once
        self._pattern = re.compile(rf"[{many}]|{word}|{_STRING}?|{single}[^\n]*{block}", re.DOTALL)
        self._comment = (comment, "/*") if blocks else (comment,)
        self.text, self.where = text, where
        self._marks, self._start = marks, 0
        self.tokens: list[str] = []
        self.position = 0
        self._dropped = 0  # consumed tokens that were dropped
        self._cut = 0  # up to here the text is tokenized
        self._pieces: list[tuple[int, int]] = []  # (tokens before it, where it begins) of each piece

    # -- tokenizing -------------------------------------------------------------------------------------------
    def _more(self, size: int = 0) -> bool:
        """Tokenize another piece; False if there is none. A token at the end of the piece is left to the next one."""
        if self._cut >= len(self.text):
            return False
        size = size or _PIECE
        start, end = self._cut, min(len(self.text), self._cut + size)
        while end < len(self.text) and self.text[end - 1] == "\\":  # never between an escape and its character
            end += 1
        piece = self.text[start:end]
        tokens = self._pattern.findall(piece)
        self._cut = end
        last = tokens[-1] if tokens else ""
        if last.startswith(self._comment):
            self._cut = self._end_of_comment(start + piece.rindex(last), last)
        elif last.startswith('"') and not re.fullmatch(_STRING, last, re.DOTALL):
            if end == len(self.text):
                self.fail("a text in quotes has no end", at=start + piece.rindex(last), fix="close it")
            self._cut = start + piece.rindex(tokens.pop())
        elif end < len(self.text) and last and last not in self._marks:
            self._cut = start + piece.rindex(tokens.pop())
        if self._cut == start:  # one token fills the piece
            return self._more(2 * size)
        self._pieces.append((self._dropped + len(self.tokens), start))
        commented = any(mark in piece for mark in self._comment)
        self.tokens += [t for t in tokens if not t.startswith(self._comment)] if commented else tokens
        return True

    def _end_of_comment(self, start: int, comment: str) -> int:
        if not comment.startswith("/*") or "/*" not in self._comment:
            end = self.text.find("\n", start)
            return len(self.text) if end < 0 else end
        end = self.text.find("*/", start + 2)
        if end < 0:
            self.fail("a comment has no end", at=start, fix="close it")
        return end + 2

    def ensure(self, n_tokens: int) -> None:
        """Tokenize until `n_tokens` tokens are ahead, or the text ends."""
        while len(self.tokens) < self.position + n_tokens and self._more():
            pass

    def forget_passed(self) -> None:
        """Drop the tokens before the cursor once they are many."""
        if self.position > _MOST_PASSED:
            del self.tokens[: self.position]
            self._dropped += self.position
            self.position = self._start = 0

    # -- reading ----------------------------------------------------------------------------------------------
    @property
    def next(self) -> str:
        """The next token, empty at the end."""
        if self.position >= len(self.tokens):
            self.ensure(1)
        return self.tokens[self.position] if self.position < len(self.tokens) else ""

    def take(self) -> str:
        """Consume the next token."""
        token = self.next
        self.position += 1
        return token

    def expect(self, token: str) -> None:
        """Consume a token that must be next."""
        if self.next != token:
            self.fail(f"expected {token!r}; found {shown_token(self.next)}")
        self.position += 1

    def name(self, what: str) -> str:
        """Consume a name, in quotes or not."""
        token = self.next
        if not token or token in self._marks:
            self.fail(f"expected {what}; found {shown_token(token)}")
        if len(token) > _LONGEST_NAME:
            self.fail(f"{what} has {len(token)} characters; {_LONGEST_NAME} are allowed")
        self.position += 1
        return unquoted(token)

    def until(self, mark: str) -> list[str]:
        """Consume all tokens up to a mark, and the mark."""
        end = self._find(mark)
        part = self.tokens[self.position : end]
        self._start, self.position = self.position, end + 1
        return part

    def _find(self, mark: str) -> int:
        looked = self.position
        while True:
            try:
                return self.tokens.index(mark, looked)
            except ValueError:
                looked = max(looked, len(self.tokens))
            is_ahead = self.text.find(mark, self._cut) >= 0  # where it is not, nothing need be tokenized
            if looked - self.position > _MOST_TOGETHER or not is_ahead or not self._more():
                self.fail(f"there is no {mark!r} from here to the end of the file")

    def numbers(self, words: list[str]) -> list[float]:
        """The words as numbers."""
        try:
            return list(map(float, words))
        except ValueError:
            bad = next(word for word in words if not reads_as_number(word))
            self.position = self.tokens.index(bad, self._start if bad in self.tokens[self._start :] else 0)
            self.fail(f"expected a number; found {shown_token(bad)}")

    def number(self) -> int:
        """Consume a whole number."""
        token = self.next
        if not (token.isascii() and token.isdigit() and len(token) < 19):
            self.fail(f"expected a whole number; found {shown_token(token)}")
        self.position += 1
        return int(token)

    def fail(self, what: str, *, back: int = 0, at: int | None = None, fix: str | None = None) -> NoReturn:
        """An error at the next token, or some tokens before it."""
        start = self._offset(self.position - back) if at is None else at
        line = self.text.count("\n", 0, start) + 1
        column = start - (self.text.rfind("\n", 0, start) + 1) + 1
        raise SourceError(f"{self.where}, line {line}, column {column}: {what}", fix=fix)

    def _offset(self, position: int) -> int:
        """The position of a token in the text, found from the beginning of its piece."""
        place = position + self._dropped
        known = [piece for piece in self._pieces if piece[0] <= place]
        k, start = known[-1] if known else (0, 0)
        for match in self._pattern.finditer(self.text, start):
            if match.group().startswith(self._comment):
                continue
            if k == place:
                return match.start()
            k += 1
        return len(self.text)


def shown_token(token: str) -> str:
    """A token for a message, or the end of the file."""
    if not token:
        return "'the end of the file'"
    return repr(token) if len(token) <= 80 else f"{token[:80]!r}..."


def unquoted(token: str) -> str:
    r"""The name of a token.

    >>> unquoted(r'"say \"yes\""')
    'say "yes"'
    """
    if token[:1] != '"':
        return token
    inside = token[1:-1]
    return _ESCAPED.sub(r"\1", inside) if "\\" in inside else inside


def quoted(name: object, always: bool = False) -> str:
    """The token of a name: itself if it is one word, else in quotes, which few other programs read.

    >>> quoted("yes"), quoted("Asy/Patch"), quoted(12), quoted("no answer")
    ('yes', 'Asy/Patch', '12', '"no answer"')
    """
    word = str(name)
    bare = word.isprintable() and word not in ("", *_KEYWORDS) and not _NOT_BARE.search(word)
    if bare and not always:
        return word
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def n_cells_of(sizes: Iterable[int]) -> int:
    """The product of sizes, or some number above the limit if it exceeds it.

    >>> n_cells_of([2, 3]), n_cells_of([2] * 1_000_000) > MOST_CELLS
    (6, True)
    """
    product = 1
    for size in sizes:
        product *= size
        if product > MOST_CELLS:
            break
    return product


def nested(parts: list[str], sizes: list[int], between: str = "") -> str:
    """Brackets around the parts for each parent, the last parent innermost.

    >>> nested(["1", "2", "3", "4"], [2, 2], " ")
    '((1 2) (3 4))'
    """
    for size in reversed(sizes):
        parts = [f"({between.join(parts[k : k + size])})" for k in range(0, len(parts), size)]
    return parts[0]
